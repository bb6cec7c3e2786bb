"""What training needs: optimizers, clipping."""

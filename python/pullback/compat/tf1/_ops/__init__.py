"""Operations and the functions that make them."""

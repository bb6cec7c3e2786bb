"""The place where TensorFlow 1 kept its tutorials' data readers."""

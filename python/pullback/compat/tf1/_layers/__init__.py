"""The base class of layers, and recurrent networks."""

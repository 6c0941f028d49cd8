"""Effects given draws of all other parameters, and what results make of them."""

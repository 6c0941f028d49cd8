"""What the tutorials state, as claims about the variables that they leave."""

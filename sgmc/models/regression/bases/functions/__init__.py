"""Functions that families of counts and proportions are made of."""

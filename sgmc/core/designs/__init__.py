"""Storage of tables of predictors: dense, sparse, coded."""

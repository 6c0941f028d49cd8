"""The contracts and what runs them: bases of models, gradients and samplers, recorders, engine."""

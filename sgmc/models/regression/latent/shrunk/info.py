"""What a result keeps of a model with learned prior scales."""

from sgmc.models.regression.info import ModelInfo


class LearnedInfo(ModelInfo):
    """What a result keeps of a model whose prior scales are learned."""

    def __init__(self, model):
        super().__init__(model)
        self.kind = type(model.whole)

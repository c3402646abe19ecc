"""What answers the hand: `AttentionExplorer` shows weights, `ModelExplorer` all that passes a model, `explore`
makes a lab of a function that draws, `TrainingCurve` shows a training while it runs, `Writing` a text while it is written."""
from helpers.widgets.attention_explorer import AttentionExplorer
from helpers.widgets.lab import Lab, explore
from helpers.widgets.model_explorer import ModelExplorer
from helpers.widgets.training_curve import TrainingCurve
from helpers.widgets.writing import Writing

__all__ = ["AttentionExplorer", "Lab", "ModelExplorer", "TrainingCurve", "Writing", "explore"]

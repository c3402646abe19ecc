"""What answers the hand: `AttentionExplorer` shows weights, `ModelExplorer` all that passes a model, `explore`
makes a lab of a function that draws, `TrainingCurve` shows a training while it runs."""
from helpers.widgets.attention_explorer import AttentionExplorer
from helpers.widgets.lab import Lab, explore
from helpers.widgets.model_explorer import ModelExplorer
from helpers.widgets.training_curve import TrainingCurve

__all__ = ["AttentionExplorer", "Lab", "ModelExplorer", "TrainingCurve", "explore"]

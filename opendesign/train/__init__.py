"""Training: the judges as rewards for reinforcement learning. Needs no torch; trainers bring their own."""

from opendesign.train.channels import Evaluation
from opendesign.train.reward import AgenticReward

__all__ = ["AgenticReward", "Evaluation"]

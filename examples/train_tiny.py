import sys

from datasets import Dataset
from transformers import set_seed
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from opendesign.train import AgenticReward
from opendesign.train.tiny import short_pages, tiny_model
from opendesign.train.trl import for_trl

set_seed(seed := int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model, tokenizer = tiny_model()  # a Qwen2 that knows nothing, with bytes as tokens
pages = Dataset.from_list(short_pages())  # twenty, every second of which lacks a rule of HTML
shared = {"seed": seed, "use_cpu": True, "bf16": False, "report_to": "none", "save_strategy": "no"}
shared |= {"output_dir": "tiny", "lr_scheduler_type": "constant", "activation_checkpointing": False}
fit = SFTConfig(max_steps=250, learning_rate=2e-3, per_device_train_batch_size=20, **shared)
SFTTrainer(model, fit, train_dataset=pages, processing_class=tokenizer).train()

judges = for_trl(AgenticReward(judges=["execution"]))
shared |= {"max_completion_length": 200, "per_device_train_batch_size": 64, "logging_steps": 1}
settings = GRPOConfig(max_steps=30, learning_rate=2e-5, **judges.settings, **shared)
trainer = GRPOTrainer(model, judges.functions, settings, train_dataset=pages, processing_class=tokenizer)
trainer.train()
scores = [step["rewards/execution/mean"] for step in trainer.state.log_history if "reward" in step]
print(f"execution: first ten steps {sum(scores[:10]) / 10:.2f}, last ten {sum(scores[-10:]) / 10:.2f}")

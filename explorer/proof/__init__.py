"""Proof that what is shown of a node is what `transformers` computes: the library's own filters on the same logits."""

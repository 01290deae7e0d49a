"""Models that read syntax columns; travels to the Hub beside every model.

- `syntax_columns`: the columns as arguments of a model
- `syntax_embeddings`: features in the embeddings
- `syntax_checkpoint`: what is saved with a model
- `dependency_tree`: from heads to distances and depths
- `graph_attention`: attention over the tree, and the biases it gives to the encoder
- `dependency_scaling`: attention scores that know distances in the tree
- `syntax_self_attention`: both in BERT's self-attention
- `structure_loss`: keeps the tree in vectors
- `answer_sentences`, `answer_spans`: question answering
- `linear_chain_crf`: labels that depend on their neighbours
- `configuration_syntax`, `configuration_syntax_*`, `modeling_syntax_*`: SyntaxBert and SyntaxMBertWithGAT with their
  heads, SyntaxMarian
- `pipeline_syntax`, `pipeline_syntax_*`: pipelines that a checkpoint carries
"""

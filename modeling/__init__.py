"""Models that read syntax columns; travels to the Hub beside every model.

- `syntax_columns`: the columns as arguments of a model
- `syntax_embeddings`: features in the embeddings
- `syntax_checkpoint`: what is saved with a model
- `dependency_tree`: from heads to distances and depths
- `graph_attention`: attention over the tree, and the biases it gives to the encoder
- `dependency_scaling`: what attention scores have to know of distances in the tree
- `score_changes`: attention with changed scores
- `syntax_self_attention`: both in an attention layer
- `syntax_mechanisms`: both in an encoder, and the structure loss in a task model
- `structure_loss`: keeps the tree in vectors
- `answer_sentences`, `answer_spans`: question answering
- `linear_chain_crf`: labels that depend on their neighbours
- `configuration_syntax`, `configuration_syntax_*`, `modeling_syntax_*`: SyntaxBert and SyntaxMBertWithGAT with their
  heads, SyntaxMarian
- `pipeline_syntax`, `pipeline_syntax_*`: pipelines that a checkpoint carries

How columns reach attention: a task model's `forward` (`with_syntax`) hands them through that of transformers to its
encoder, which makes biases and score changes of them (`attention_arguments`); the encoder layers of transformers pass
these on to attention layers of ours (`own_syntax`). The structure loss comes back by the list `attended`.
"""

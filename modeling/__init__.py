"""Models that read syntax columns; travels to the Hub beside every model.

- `syntax_columns`: the columns as arguments of a model
- `syntax_embeddings`: features in the embeddings
- `configuration_syntax_bert`, `modeling_syntax_bert`: SyntaxBert and its heads
"""

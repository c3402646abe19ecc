"""What the lessons share. The subject is in flat modules, which import only those above them.

masks               padding and causal masks, the masked softmax; checks of ids and lengths
hooks               record and change attention weights; what each does for the answer, and each head looks at
kernel_regression   Nadaraya-Watson regression and its kernels
attention           dot-product, bilinear and additive scores; multi-head attention
positions           sinusoidal, learned, rotary (RoPE), ALiBi
text                splitting, Vocab, WordPiece, padding, batches
ngrams              the next token by counting, with Witten-Bell or Kneser-Ney smoothing
recurrent           GRU and LSTM encoder-decoders, with and without attention
transformer         layers and stacks; Transformer, GPT, Classifier; KVCache
bert                Bert, its heads of pretraining and fine-tuning, sentence vectors
training            the training loop, learning rate schedules, losses
generation          greedy, sampling, beam search; a stream of tokens; answers to a prompt
finetuning          BERT on four kinds of task: examples, batches, losses, measures
plots               heatmaps and all other static pictures; imports no other module
environment         whether everything is installed that the course needs

data/               load_...: corpora that ship, files of your own, published archives
pretraining/        pretraining BERT: objectives, steps, checkpoints; python -m helpers.pretraining
pretrained/         load_bert, fetch_bert: published checkpoints; load_weights, and the weights that ship
widgets/            AttentionExplorer; explore, for labs; TrainingCurve, which train shows
jupyter/            settings of JupyterLab; the kernel's answers reach the page at once
exercises/          check, and the exercises of each lesson
"""

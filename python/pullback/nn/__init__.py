"""Neural networks, `pb.nn`: activations, losses, normalisation, convolutions and pools."""

from .. import initializers
from ._activations import (
    gelu,
    glu,
    log_sigmoid,
    log_softmax,
    mish,
    sigmoid,
    silu,
    softmax,
    softplus,
    softsign,
)
from ._attention import multi_head_attention, scaled_dot_product_attention
from ._conv import conv1d, conv2d, conv3d, conv_transpose
from ._ctc import ctc_loss
from ._embedding import embedding_bag
from ._losses import (
    cosine_similarity,
    kl_divergence,
    sigmoid_cross_entropy,
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)
from ._normalization import batch_norm, dropout, embedding, group_norm, layer_norm, rms_norm
from ._pool import adaptive_avg_pool, adaptive_max_pool, avg_pool, lp_pool, max_pool
from ._rectifiers import (
    celu,
    elu,
    hard_sigmoid,
    hard_silu,
    hard_tanh,
    leaky_relu,
    relu,
    relu6,
    selu,
)
from ._recurrent import gru, lstm, rnn
from ._regression_losses import hinge, huber_loss, l1_loss, l2_loss, smooth_l1
from ._resize import resize, upsample
from ._unfold import fold, unfold

__all__ = [
    "adaptive_avg_pool",
    "adaptive_max_pool",
    "avg_pool",
    "batch_norm",
    "celu",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose",
    "cosine_similarity",
    "ctc_loss",
    "dropout",
    "elu",
    "embedding",
    "embedding_bag",
    "fold",
    "gelu",
    "glu",
    "group_norm",
    "gru",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "hinge",
    "huber_loss",
    "initializers",
    "kl_divergence",
    "l1_loss",
    "l2_loss",
    "layer_norm",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "lp_pool",
    "lstm",
    "max_pool",
    "mish",
    "multi_head_attention",
    "relu",
    "relu6",
    "resize",
    "rms_norm",
    "rnn",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "sigmoid_cross_entropy",
    "silu",
    "smooth_l1",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "softsign",
    "sparse_softmax_cross_entropy",
    "unfold",
    "upsample",
]

"""Functions of whole arrays that functions.py measures, at three sizes each, by namespace."""

from __future__ import annotations

from .function_table import POSITIVE, REAL, Function, Range

Shapes = tuple[tuple[tuple[int, ...], ...], ...]

LINES: Shapes = tuple(((n,),) for n in (100, 10_000, 1_000_000))
TABLES: Shapes = tuple(((m, n),) for m, n in ((10, 10), (100, 100), (1000, 1000)))
PAIRS: Shapes = tuple(((n, n), (n, n)) for n in (4, 64, 512))
SQUARES: Shapes = tuple(((n, n),) for n in (4, 32, 200))
SYSTEMS: Shapes = tuple(((n, n), (n, 4)) for n in (4, 32, 200))
BATCHES: Shapes = tuple(((n, 3, 3),) for n in (10, 1000, 100_000))
SMALL_SYSTEMS: Shapes = tuple(((n, 3, 3), (n, 3, 1)) for n in (10, 1000, 100_000))
VECTORS: Shapes = tuple(((n, 3), (n, 3)) for n in (10, 1000, 100_000))
IMAGES: Shapes = tuple(((n, side, side, 16),) for n, side in ((1, 8), (8, 16), (16, 32)))
FILTERS: Shapes = tuple((*image, (3, 3, 16, 16)) for image in IMAGES)


def _calls(
    shapes: Shapes,
    text: str,
    ranges: tuple[Range, ...] = (REAL,),
    gradient: bool = True,
    sized: bool = True,
) -> dict[str, Function]:
    """A line for each function: the call; after bars, calls by other libraries (empty: none)."""
    made = {}
    for line in text.strip().splitlines():
        call, *others = (part.strip() for part in line.split("|"))
        calls = dict(other.split(":", 1) for other in others)
        known = {library.strip(): other.strip() for library, other in calls.items()}
        made[f"{call} {'×'.join(map(str, shapes[-1][0]))}"] = Function(
            ranges * (len(shapes[0]) // len(ranges)), call, known, shapes, gradient, sized
        )
    return made


REDUCTIONS = {
    **_calls(
        TABLES,
        """
        sum(x)
        sum(x, axis=0)
        sum(x, axis=1)
        mean(x, axis=1)
        prod(x, axis=1)
        max(x, axis=0) | torch: amax(x, 0)
        max(x, axis=1) | torch: amax(x, 1)
        min(x) | torch: amin(x)
        var(x, axis=1) | torch: var(x, 1, correction=0)
        std(x, axis=0) | torch: std(x, 0, correction=0)
        logsumexp(x, axis=1) | numpy: scipy.special.logsumexp(x, axis=1) | torch: logsumexp(x, 1)
        linalg.norm(x)
        linalg.norm(x, axis=1) | torch: linalg.norm(x, dim=1)
        median(x, axis=1) | torch:
        quantile(x, 0.3, axis=1) | torch: quantile(x, 0.3, 1)
        """,
    ),
    **_calls(
        TABLES,
        """
        any(x, axis=1)
        all(x > 0, axis=0)
        argmax(x, axis=1)
        argmin(x, axis=0)
        count_nonzero(x, axis=1) | torch: count_nonzero(x, 1)
        """,
        gradient=False,
    ),
}
SCANS = {
    **_calls(
        TABLES,
        """
        cumsum(x, axis=1)
        cumsum(x, axis=0)
        cumprod(x, axis=1)
        cumulative_max(x, axis=1) | numpy: maximum.accumulate(x, axis=1) | jax: lax.cummax(x, axis=1) | torch: cummax(x, 1)[0]
        cumulative_logsumexp(x, axis=1) | numpy: logaddexp.accumulate(x, axis=1) | jax: lax.cumlogsumexp(x, axis=1) | torch: logcumsumexp(x, 1)
        diff(x, axis=1)
        sort(x, axis=1) | torch: sort(x, 1)[0]
        sort(x, axis=0) | torch: sort(x, 0)[0]
        """,  # noqa: E501
    ),
    **_calls(LINES, "sort(x) | torch: sort(x)[0]\ncumsum(x) | torch: cumsum(x, 0)"),
    **_calls(LINES, "argsort(x)", gradient=False),
    **_calls(LINES, "unique(x)", gradient=False, sized=False),
}
INDEXING = {
    **_calls(
        TABLES,
        """
        x[1:-1, ::2]
        x[:, 1]
        x[::-1] | torch: flip(x, (0,))
        transpose(x) + 1.0 | torch: x.T + 1.0
        concat([x, x], axis=1) | numpy: concatenate([x, x], axis=1) | jax: concatenate([x, x], axis=1)
        stack([x, x], axis=1)
        roll(x, 1, axis=0) | torch: roll(x, 1, 0)
        tile(x, (2, 1))
        repeat(x, 2, axis=0) | torch: repeat_interleave(x, 2, 0)
        tril(x)
        pad(x, 1) | torch: nn.functional.pad(x, (1, 1, 1, 1))
        flip(x, axis=1) | torch: flip(x, (1,))
        take(x, [2, 0, 1], axis=1) | torch: x[:, [2, 0, 1]] | jax: x[:, array([2, 0, 1])]
        """,  # noqa: E501
    ),
    **_calls(TABLES, "x[x > 0]", sized=False),
}
LINALG = {
    **_calls(PAIRS, "x @ y\ninner(x, y)\nlinalg.matmul(x, y)\nkron(x[:8, :8], y[:64, :64])"),
    **_calls(
        VECTORS, "linalg.cross(x, y) | jax: cross(x, y)\nvecdot(x, y) | torch: linalg.vecdot(x, y)"
    ),
    **_calls(VECTORS, "linalg.norm(x - y, axis=-1) | torch: linalg.norm(x - y, dim=-1)"),
    **_calls(
        BATCHES,
        """
        x @ x
        linalg.inv(x)
        linalg.det(x)
        linalg.slogdet(x)[1]
        linalg.cholesky(x @ x.mT + 3.0 * eye(3, dtype=x.dtype))
        linalg.eigvalsh(x + x.mT)
        """,
    ),
    **_calls(SMALL_SYSTEMS, "linalg.solve(x, y)"),
    **_calls(
        SQUARES,
        """
        linalg.inv(x)
        linalg.det(x)
        linalg.slogdet(x)[1]
        linalg.cholesky(x @ x.T + 3.0 * eye(x.shape[0], dtype=x.dtype))
        abs(linalg.qr(x)[0])
        linalg.svdvals(x) | numpy: linalg.svd(x, compute_uv=False) | jax: linalg.svd(x, compute_uv=False)
        linalg.eigvalsh(x + x.T)
        abs(linalg.eigh(x + x.T)[1])
        linalg.matrix_power(x, 5)
        linalg.pinv(x)
        linalg.expm(x) | numpy: scipy.linalg.expm(x) | jax: scipy.linalg.expm(x) | torch: linalg.matrix_exp(x)
        linalg.trace(x) | numpy: trace(x) | jax: trace(x) | torch: trace(x)
        """,  # noqa: E501
    ),
    **_calls(SYSTEMS, "linalg.solve(x, y)\nlinalg.lstsq(x, y)[0]"),
}
FFT = _calls(
    LINES,
    """
    fft.rfft(x).real
    fft.fft(x).real
    fft.irfft(x)
    fft.rfft(x[1:]).real
    """,
)
STATS = {
    **_calls(
        LINES,
        """
        stats.norm.logpdf(x) | numpy: scipy.stats.norm.logpdf(x) | jax: scipy.stats.norm.logpdf(x) | torch: distributions.Normal(0.0, 1.0).log_prob(x)
        stats.norm.cdf(x) | numpy: scipy.stats.norm.cdf(x) | jax: scipy.stats.norm.cdf(x) | torch: distributions.Normal(0.0, 1.0).cdf(x)
        stats.t.logpdf(x, 3.0) | numpy: scipy.stats.t.logpdf(x, 3.0) | jax: scipy.stats.t.logpdf(x, 3.0) | torch: distributions.StudentT(3.0).log_prob(x)
        stats.cauchy.logpdf(x) | numpy: scipy.stats.cauchy.logpdf(x) | jax: scipy.stats.cauchy.logpdf(x) | torch: distributions.Cauchy(0.0, 1.0).log_prob(x)
        stats.logistic.logpdf(x) | numpy: scipy.stats.logistic.logpdf(x) | jax: scipy.stats.logistic.logpdf(x) | torch:
        """,  # noqa: E501
    ),
    **_calls(
        LINES,
        """
        stats.gamma.logpdf(x, 2.5) | numpy: scipy.stats.gamma.logpdf(x, 2.5) | jax: scipy.stats.gamma.logpdf(x, 2.5) | torch: distributions.Gamma(2.5, 1.0).log_prob(x)
        stats.gamma.cdf(x, 2.5) | numpy: scipy.stats.gamma.cdf(x, 2.5) | jax: scipy.stats.gamma.cdf(x, 2.5) | torch: distributions.Gamma(2.5, 1.0).cdf(x)
        stats.chi2.logpdf(x, 3.0) | numpy: scipy.stats.chi2.logpdf(x, 3.0) | jax: scipy.stats.chi2.logpdf(x, 3.0) | torch: distributions.Chi2(3.0).log_prob(x)
        stats.expon.logpdf(x) | numpy: scipy.stats.expon.logpdf(x) | jax: scipy.stats.expon.logpdf(x) | torch: distributions.Exponential(1.0).log_prob(x)
        """,  # noqa: E501
        (POSITIVE,),
    ),
}
NN = {
    **_calls(
        TABLES,
        """
        nn.softmax(x) | numpy: scipy.special.softmax(x, axis=-1) | torch: softmax(x, -1)
        nn.log_softmax(x) | numpy: scipy.special.log_softmax(x, axis=-1) | torch: log_softmax(x, -1)
        nn.softmax(x, axis=0) | numpy: scipy.special.softmax(x, axis=0) | torch: softmax(x, 0)
        nn.layer_norm(x) | numpy: | jax: | torch: nn.functional.layer_norm(x, x.shape[-1:])
        nn.rms_norm(x) | numpy: | jax: | torch: nn.functional.rms_norm(x, x.shape[-1:])
        """,
    ),
    **_calls(
        FILTERS,
        """
        nn.conv2d(x, y) | numpy: | jax: lax.conv_general_dilated(x, y, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")) | torch: nn.functional.conv2d(x.permute(0, 3, 1, 2), y.permute(3, 2, 0, 1))
        """,  # noqa: E501
    ),
    **_calls(
        IMAGES,
        """
        nn.max_pool(x, 2) | numpy: | jax: lax.reduce_window(x, -inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") | torch: nn.functional.max_pool2d(x.permute(0, 3, 1, 2), 2)
        nn.avg_pool(x, 2) | numpy: | jax: | torch: nn.functional.avg_pool2d(x.permute(0, 3, 1, 2), 2)
        """,  # noqa: E501
    ),
}
ARRAYS = {
    "reductions": REDUCTIONS,
    "scans": SCANS,
    "indexing": INDEXING,
    "linalg": LINALG,
    "fft": FFT,
    "stats": STATS,
    "nn": NN,
}

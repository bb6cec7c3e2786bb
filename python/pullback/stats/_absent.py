"""`Family`: the base class of all distributions, with errors for absent methods of SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

_INSTEAD = {
    "expect": "pb.integrate.quad of the product with the density",
    "fit": "pb.optimize.minimize of the negative sum of the logarithms of the densities",
    "freeze": "pass the parameters to each method",
    "interval": "ppf and isf",
    "moment": "mean and var, or pb.integrate.quad of the product with the density",
    "nnlf": "the negative sum of the logarithms of the densities",
    "random_state": "pb.random.seed(n)",
    "rvs": "the functions of pb.random, such as pb.random.normal(shape, loc, scale)",
    "stats": "mean and var",
}


class Family:
    """Raise errors that name the replacement of absent methods and of frozen distributions."""

    name: ClassVar[str]

    def __repr__(self) -> str:
        return f"pb.stats.{self.name}"

    if not TYPE_CHECKING:  # calls and unknown methods are errors for type checkers too
        # Not annotated as NoReturn, which `help` would show as the signature of the distribution.
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """Raise a TypeError: a distribution is not a function."""
            raise TypeError(
                f"{self.name}: a distribution is not a function, and stores no parameters; pass "
                "them to each method, as in pb.stats.norm.logpdf(x, loc, scale)"
            )

        def __getattr__(self, attribute: str) -> NoReturn:
            hint = f"; use {_INSTEAD[attribute]}" if attribute in _INSTEAD else ""
            raise AttributeError(
                f"{self.name}: no attribute {attribute!r}{hint}",
                name=attribute,
                obj=self,
            )

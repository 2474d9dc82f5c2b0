# SPDX-License-Identifier: BSD-3-Clause
"""How users call the package, for mypy --strict (scripts/check-python); it is not run.

The lines with "type: ignore" are mistakes: mypy complains if it does not find them.
"""

from typing import Any, Dict, List

import medley
import numpy as np
import numpy.typing as npt


def rows(X: npt.NDArray[np.float32], y: npt.NDArray[Any]) -> float:
    model: medley.MKLClassifier = medley.MKLClassifier(["rbf(auto)"], C=1.0, verbose="tqdm").fit(X, y)
    labels: npt.NDArray[Any] = model.predict(X)
    shares: npt.NDArray[Any] = model.predict_proba(X)
    model.save("model.medley")
    again: medley.MKLClassifier = medley.MKLClassifier.load("model.medley", classes=["a", "b"])
    report: medley.Report = again.report(X=X, y=y)
    report.save("report.html")
    told: Dict[str, Any] = model.evaluate(X, y)
    assert len(labels) == len(shares) == len(told)
    return model.score(X, y)


def choosing(X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> float:
    found: medley.Tuning = medley.tune(X, y, {"C": [0.1, 1]}, scoring="rmse")
    trace: medley.Path = medley.regularization_path(X, y, count=5, eval_set=(X, y))
    best: float = found.best_score_
    return best + float(trace.lambdas[0])


def texts(X: List[List[str]], y: List[List[str]]) -> List[List[Any]]:
    kernels: List[medley.Listed] = medley.list_kernels()
    assert kernels[0].name
    return medley.SequenceLabeler(epochs=3).fit(X, y).predict(X)


def mistakes(X: npt.NDArray[np.float32], y: npt.NDArray[Any]) -> None:
    medley.MKLClassifier(C="strong")  # type: ignore[arg-type]
    medley.MKLClassifier(penalti="mkl")  # type: ignore[call-arg]
    medley.tune(X, y, ["C"])  # type: ignore[arg-type]
    name: str = medley.generate("waveform", rows=10)  # type: ignore[assignment]
    score: str = medley.MKLRegressor().fit(X, y).score(X, y)  # type: ignore[assignment]
    medley.MKLClasifier()  # type: ignore[attr-defined]

"""What a careful user would otherwise write."""

from __future__ import annotations

import numpy as np
from scipy.special import polygamma, psi
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data


class DirichletMLE(BaseEstimator):
    """Maximum likelihood by Newton's method (Minka 2000), with standard errors, input validated as zfree does."""

    def fit(self, X, y=None):
        X = validate_data(self, X, dtype=np.float64)
        if not (X.min() > 0 and np.all(np.abs(X.sum(axis=1) - 1) < 1e-6)):
            raise ValueError("rows must be strictly positive and sum to one")
        n = len(X)
        mean_log = np.log(X).mean(axis=0)
        first, second = X.mean(axis=0), (X**2).mean(axis=0)
        alpha = first * np.median((first - second) / (second - first**2))
        for _ in range(100):
            total = alpha.sum()
            gradient = psi(total) - psi(alpha) + mean_log
            diagonal, common = -polygamma(1, alpha), polygamma(1, total)
            # The Hessian is diagonal plus a constant: Newton's step in O(d).
            b = (gradient / diagonal).sum() / (1 / common + (1 / diagonal).sum())
            step = (gradient - b) / diagonal
            alpha = np.where(alpha - step > 0, alpha - step, alpha / 2)
            if np.abs(step).max() < 1e-10:
                break
        information = n * (np.diag(polygamma(1, alpha)) - polygamma(1, alpha.sum()))
        self.alpha_, self.covariance_ = alpha, np.linalg.inv(information)
        self.alpha_se_ = np.sqrt(np.diagonal(self.covariance_))
        return self

"""What a careful user would otherwise write."""

from __future__ import annotations

import numpy as np
from scipy.special import polygamma
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from zfree.likelihood import dirichlet_mle


class DirichletMLE(BaseEstimator):
    """Maximum likelihood by Newton's method (Minka 2000), with standard errors, input validated as zfree does."""

    def fit(self, X, y=None):
        X = validate_data(self, X, dtype=np.float64)
        alpha = dirichlet_mle(X)
        information = len(X) * (np.diag(polygamma(1, alpha)) - polygamma(1, alpha.sum()))
        self.alpha_, self.covariance_ = alpha, np.linalg.inv(information)
        self.alpha_se_ = np.sqrt(np.diagonal(self.covariance_))
        return self

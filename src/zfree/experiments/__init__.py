"""The paper's tables and figures as commands: ``zfree reproduce NAME``."""

from zfree.experiments.base import Experiment
from zfree.experiments.candidate_ranking import RankingOfCandidates
from zfree.experiments.dirichlet import DirichletSimplex
from zfree.experiments.exponent import Exponent
from zfree.experiments.exponential import ExponentialRate
from zfree.experiments.flow_limit import FlowLimit
from zfree.experiments.folder import check_folder
from zfree.experiments.gaussian_orthant import GaussianOrthant
from zfree.experiments.gaussian_simplex import GaussianSimplex
from zfree.experiments.nonconvex import NonConvex
from zfree.experiments.recover_mle import RecoverMLE
from zfree.experiments.report import Finding, Number, Report
from zfree.experiments.robustness_dirichlet import RobustnessDirichlet
from zfree.experiments.robustness_gaussian_orthant import RobustnessGaussianOrthant
from zfree.experiments.robustness_gaussian_simplex import RobustnessGaussianSimplex
from zfree.experiments.runner import run
from zfree.experiments.vae_celeba import VaeCeleba
from zfree.experiments.vae_mnist import VaeMnist
from zfree.experiments.vae_scenes import VaeScenes

EXPERIMENTS: dict[str, type[Experiment]] = {
    experiment.name: experiment
    for experiment in (
        ExponentialRate,
        GaussianSimplex,
        GaussianOrthant,
        DirichletSimplex,
        RobustnessGaussianSimplex,
        RobustnessGaussianOrthant,
        RobustnessDirichlet,
        Exponent,
        NonConvex,
        RankingOfCandidates,
        FlowLimit,
        RecoverMLE,
        VaeMnist,
        VaeCeleba,
        VaeScenes,
    )
}
"""By name, in the order of the paper."""

__all__ = ["EXPERIMENTS", "Experiment", "Finding", "Number", "Report", "check_folder", "run"]

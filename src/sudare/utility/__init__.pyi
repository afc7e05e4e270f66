# Written by `make stubs`.
from sudare.utility.measure import utility as _utility
from sudare.utility.plugins.contest import CorrelationError as CorrelationError
from sudare.utility.plugins.contest import CrossCount as CrossCount
from sudare.utility.plugins.contest import CrossMean as CrossMean
from sudare.utility.plugins.contest import MeanClass as MeanClass
from sudare.utility.plugins.contest import MeanError as MeanError
from sudare.utility.plugins.contest import RowLoss as RowLoss
from sudare.utility.plugins.contest import RowsChanged as RowsChanged
from sudare.utility.plugins.contest import SmallestClass as SmallestClass
from sudare.utility.plugins.distributions import CorrelationShift as CorrelationShift
from sudare.utility.plugins.distributions import MarginalDistance as MarginalDistance
from sudare.utility.plugins.distributions import MeanShift as MeanShift
from sudare.utility.plugins.distributions import PairwiseDistance as PairwiseDistance
from sudare.utility.plugins.distributions import QuantileShift as QuantileShift
from sudare.utility.plugins.learning import Propensity as Propensity
from sudare.utility.plugins.learning import TrainOnRelease as TrainOnRelease
from sudare.utility.plugins.query_workload import QueryWorkload as QueryWorkload
from sudare.utility.plugins.recoding import CertaintyPenalty as CertaintyPenalty
from sudare.utility.plugins.recoding import Discernibility as Discernibility

class UtilityVerb:
    __call__ = staticmethod(_utility)
    CertaintyPenalty = CertaintyPenalty
    CorrelationError = CorrelationError
    CorrelationShift = CorrelationShift
    CrossCount = CrossCount
    CrossMean = CrossMean
    Discernibility = Discernibility
    MarginalDistance = MarginalDistance
    MeanClass = MeanClass
    MeanError = MeanError
    MeanShift = MeanShift
    PairwiseDistance = PairwiseDistance
    Propensity = Propensity
    QuantileShift = QuantileShift
    QueryWorkload = QueryWorkload
    RowLoss = RowLoss
    RowsChanged = RowsChanged
    SmallestClass = SmallestClass
    TrainOnRelease = TrainOnRelease

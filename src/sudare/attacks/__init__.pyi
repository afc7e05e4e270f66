# Written by `make stubs`.
from sudare.attacks.plugins.assignment import Assignment as Assignment
from sudare.attacks.plugins.euclid import Euclid as Euclid
from sudare.attacks.plugins.euclid import Mahalanobis as Mahalanobis
from sudare.attacks.plugins.euclid import RankDistance as RankDistance
from sudare.attacks.plugins.euclid import StandardizedEuclid as StandardizedEuclid
from sudare.attacks.plugins.gower import Gower as Gower
from sudare.attacks.plugins.identify import IdentifyRand as IdentifyRand
from sudare.attacks.plugins.identify import IdentifySa as IdentifySa
from sudare.attacks.plugins.identify import IdentifySa21 as IdentifySa21
from sudare.attacks.plugins.identify import IdentifySort as IdentifySort
from sudare.attacks.plugins.itemsets import Jaccard as Jaccard
from sudare.attacks.plugins.itemsets import TfIdf as TfIdf
from sudare.attacks.plugins.twins import Twins as Twins

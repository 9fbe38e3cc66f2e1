"""The paper's questions, and ours."""

from __future__ import annotations

from bup import calibrators
from bup.experiments.measures import (
    ablation_numbers,
    calibration_numbers,
    ood_numbers,
    plain_numbers,
    record_numbers,
    rule_numbers,
    structure_numbers,
    unseen_numbers,
    validation_numbers,
)
from bup.experiments.protocols import (
    calibration_record,
    last_class,
    published_protocols,
    with_and_without_last_class,
)
from bup.experiments.question import Quantity, ResearchQuestion
from bup.experiments.variants import (
    PAPERS_BUP,
    ablation_variants,
    choice_variants,
    find_variant,
    find_variants,
    many_labels_variants,
    more_labels_variants,
    rule_variants,
    sweep_variants,
)
from bup.methods import TRAINED

ACCURACY, ACE, ECE = (
    Quantity("accuracy", "accuracy", 1),
    Quantity("ace", "ACE", -1),
    Quantity("ece", "ECE", -1),
)
NLL = Quantity("nll", "NLL", -1, 3)
VALIDATION = (
    Quantity("nll_none", "validation NLL", -1, 4),
    Quantity("nll_variance", "+variance (cross-fitted)", -1, 4),
    Quantity("nll_spread", "+spread", -1, 4),
    Quantity("ece_none", "ECE", -1),
    Quantity("ece_variance", "+variance", -1),
    Quantity("ece_spread", "+spread", -1),
    Quantity("validation_accuracy", "accuracy", 1),
)
SHARES = (0.05, 0.1, 0.2, 0.5, 1)
BY_RULE = (PAPERS_BUP, "doubt (uncalibrated)", "evidence (uncalibrated)")
PAPERS = (PAPERS_BUP, "gcn", "vgcn", "bbgdc", "bbde", "ggp")

QUESTIONS: dict[str, ResearchQuestion] = {
    question.name: question
    for question in (
        ResearchQuestion(
            "q1",
            "Accuracy and calibration, all classes known (the paper's Table 1)",
            ("cora", "citeseer", "pubmed"),
            (5, 10, 15, 20),
            find_variants(*PAPERS, "gcn+temperature", "doubt (uncalibrated)"),
            plain_numbers,
            (ACCURACY, ACE, ECE, NLL),
            note="Accuracy and errors in percent, 10 bins; ACE is the average calibration error.",
        ),
        ResearchQuestion(
            "q2",
            "One class never seen (the paper's Table 2)",
            ("cora", "citeseer"),
            (5, 10, 15, 20),
            find_variants(*BY_RULE, "gcn", "gcn+temperature"),
            unseen_numbers,
            (
                Quantity("confidence_in", "confidence, known", 0, 3),
                Quantity("confidence_out", "confidence, unseen", 0, 3),
                Quantity("prob_std_in", "std of probabilities, known", 0, 3),
                Quantity("prob_std_out", "std of probabilities, unseen", 0, 3),
                Quantity("in_above_out", "known above unseen in both, % of reruns", 1, 0),
                Quantity("auroc_confidence", "AUROC by confidence", 1, 1),
                Quantity("auroc_message_std", "AUROC by message std", 1, 1),
            ),
            last_class,
            note="The paper's standard deviations are too small for its confidences: no six "
            "probabilities with a maximum of 0.70 have one below 0.23. Compare directions.",
        ),
        ResearchQuestion(
            "q3",
            "Message uncertainty against degree and distance to training nodes (Spearman)",
            ("cora", "citeseer", "pubmed"),
            (20,),
            find_variants(*BY_RULE),
            structure_numbers,
            tuple(
                Quantity(f"message_{score}_{against}", f"{score} ~ {against}", 0, 3)
                for against in ("degree", "distance")
                for score in ("std", "entropy")
            ),
            note="The paper shows these relations as pictures, without a figure.",
        ),
        ResearchQuestion(
            "ablation",
            "Propagation rule / loss / prediction, each part of the paper on and off",
            ("cora", "citeseer"),
            (20,),
            ablation_variants(),
            ablation_numbers,
            (ACCURACY, ACE, ECE, NLL, Quantity("message_std_degree", "std ~ degree", 0, 3)),
            reruns=5,
            note="How variance travels along links / what training maximises / how class "
            "probabilities come out of messages; std ~ degree is Spearman's rank correlation of "
            "message uncertainty with degree.",
        ),
        ResearchQuestion(
            "calibration",
            "BUP against opponents that were calibrated too",
            ("cora", "citeseer", "pubmed", "synthetic"),
            (5, 10, 15, 20),
            find_variants(
                *(PAPERS_BUP, "bup+variance", "bup+spread"),
                *("doubt (uncalibrated)", "doubt+spread"),
                *("doubt+spread+bias", "gcn", "gcn+temperature", "gcn+cagcn", "gcn+gats"),
                *("gcn+spread", "gcn+spread+bias"),
            ),
            calibration_numbers,
            (
                ACCURACY,
                ECE,
                NLL,
                Quantity("brier", "Brier", -1, 3),
                Quantity("aurc", "AURC", -1),
                Quantity("accuracy_80", "accuracy on the surest 80 %", 1),
                Quantity("coverage", "sets cover (wanted: 90 %)", 0, 1),
                Quantity("set_size", "classes per set", -1),
                Quantity("truth_distance", "distance to the truth", -1),
                Quantity("truth_kl", "KL from the truth", -1, 3),
            ),
            reference="gcn+gats",
            note="A calibrated GCN has width 64 and keeps its best epoch; all calibrate on the "
            "validation nodes. Sets: conformal, diffused adaptive scores. Only the synthetic graph "
            "has a known truth, the posterior given words, links and training labels; the distance "
            "is total variation in percent.",
        ),
        ResearchQuestion(
            "record",
            "Calibration on the split of the literature: 20 % train, 10 % validate, 70 % test",
            ("cora", "citeseer", "pubmed"),
            (20,),
            (
                *find_variants(PAPERS_BUP, "bup+spread", "doubt (uncalibrated)"),
                *find_variants("doubt+spread", "doubt+spread+bias"),
                *many_labels_variants(),
                *find_variants(
                    "gcn", *(f"gcn+{c}" for c in calibrators.choices(with_variance=False)[1:])
                ),
            ),
            record_numbers,
            (
                ACCURACY,
                ECE,
                Quantity("floor", "the least it could be", 0),
                Quantity("ece_degree", "ECE by degree", -1),
                Quantity("floor_degree", "the least", 0),
                NLL,
            ),
            calibration_record,
            reruns=5,
            reference="gcn+gats",
            note="10 bins. The published figures (GETS, WATS) group test nodes by degree, not by "
            "confidence, as their authors' code does; they stand beside ours by degree. "
            "The least that an ECE could be: what labels drawn from the model's own probabilities "
            "show, which are calibrated exactly.",
        ),
        ResearchQuestion(
            "ood",
            "Finding classes that were never shown, under three protocols (AUROC in percent)",
            ("cora", "citeseer", "pubmed"),
            (20,),
            (
                find_variant(PAPERS_BUP),
                *find_variants(*(name for name in TRAINED if name != "bup")),
                *find_variants("doubt (uncalibrated)", "evidence (uncalibrated)"),
                *more_labels_variants(),
            ),
            ood_numbers,
            (
                Quantity("auroc_confidence", "by confidence", 1, 1),
                Quantity("auroc_own", "by its own score", 1, 1),
                Quantity("auroc_best", "by the best of its scores", 1, 1),
            ),
            published_protocols,
            words=("own_score",),
            note="A method's own score is the one that it offers for lack of evidence, fixed "
            "beforehand; the best one is picked in hindsight, per rerun. GNNSafe's protocol learns "
            "Cora's classes 4 to 6; class 3, its outlier exposure, is neither shown nor judged. "
            "Figures in brackets are published ones on Cora's fixed split.",
        ),
        ResearchQuestion(
            "rules",
            "How variance travels: the paper's rule, what it leaves open, and other rules",
            ("cora", "citeseer", "pubmed"),
            (20,),
            rule_variants(),
            rule_numbers,
            (
                ACCURACY,
                ECE,
                NLL,
                Quantity("message_std_degree", "std ~ degree", 0, 2),
                Quantity("message_std_distance", "std ~ distance", 0, 2),
                Quantity("errors_message_std", "mistakes by std", 1, 1),
                Quantity("errors_confidence", "by confidence", 1, 1),
                Quantity("unseen_message_std", "unseen class by std", 1, 1),
                Quantity("unseen_confidence", "by confidence", 1, 1),
            ),
            with_and_without_last_class,
            note="std is the message's standard deviation, ~ Spearman's rank correlation with "
            "degree and with the mean distance to training nodes. What finds mistakes and the "
            "unseen class is measured by AUROC, in percent.",
        ),
        ResearchQuestion(
            "strangers",
            "How many unseen nodes must there be to be noticed? (AUROC in percent)",
            tuple(f"fewer:{graph}:{share}" for graph in ("cora", "citeseer") for share in SHARES),
            (20,),
            find_variants(PAPERS_BUP, "doubt (uncalibrated)", "energy"),
            ood_numbers,
            (
                Quantity("unseen_share", "unseen, % of the graph", 0, 1),
                Quantity("auroc_own", "by its own score", 1, 1),
                Quantity("auroc_confidence", "by confidence", 1, 1),
            ),
            last_class,
            words=("own_score",),
            note="Of the last class, which is never shown, only a share is left in the graph.",
        ),
        ResearchQuestion(
            "choices",
            "What was decided on validation nodes with fresh seeds: layers, rule, calibration",
            ("cora", "citeseer", "pubmed"),
            (5, 20),
            choice_variants(),
            validation_numbers,
            VALIDATION,
            first_seed=200,  # which no other question uses
            pooled=True,
        ),
        ResearchQuestion(
            "sweep",
            "The settings among which the defaults were chosen, on validation nodes only",
            ("cora", "citeseer"),
            (5, 20),
            sweep_variants(),
            validation_numbers,
            VALIDATION,
            reruns=5,
            first_seed=100,  # which no other question uses
            pooled=True,
        ),
    )
}

import type { Domain, Provenance } from '@perwatt/core';
import type {
  CellCounts,
  CellEnergy,
  EnergyDetail,
  Metric,
  MetricId,
  MetricValue,
  PhysicsFinding,
  RepeatFigures,
  SubjectFigures,
} from '@perwatt/metrics';
import type {
  Baseline,
  CellFile,
  CellPoint,
  CellProvenance,
  CellVerdict,
  DomainLedger,
  HostFacts,
  RunManifest,
  StoppingFacts,
} from '@perwatt/records';
import type { Grading } from './grading.js';
import type { LoadFacts } from './load-facts.js';

/** Version of `results.json`. A reader refuses a newer one. */
export const RESULTS_VERSION = 1;

/** One query put on show: what was asked, what came, how it was judged. Texts are cut at a length. */
export interface ShownQuery {
  readonly item_id: string;
  readonly verdict: string;
  readonly prompt: string | null;
  readonly completion: string | null;
  readonly extracted: string | null;
}

/** An answer in which nothing was found that could be judged. */
export interface UnparsedAnswer {
  readonly item_id: string;
  readonly repeat: number;
  /** The end of it; null where there is no text, or its data set's authors ask not to show any. */
  readonly end: string | null;
}

/** One idle baseline of a cell, over the domains of its boundary. */
export interface BaselineFact {
  readonly sitting: number;
  readonly kind: Baseline['kind'];
  readonly when: Baseline['when'];
  /** Taken once for several cells. */
  readonly shared: boolean;
  readonly length_ns: number;
  /** From its middle to the middle of the sitting's window, ns: how old it was, or how late it came. */
  readonly age_ns: number;
  /** W; null where a domain's isn't known. */
  readonly power_w: number | null;
  /** Change from the one before to the one after, as a share of the first; null unless both are known. */
  readonly drift_ratio: number | null;
}

/** One cell of the matrix with everything a table, a figure or a comparison needs of it. */
export interface CellResult {
  readonly cell_id: string;
  readonly point: CellPoint;
  readonly position: number;
  readonly status: CellFile['status'];
  readonly failure: string | null;
  /** Why it was passed over; absent where it was tried. */
  readonly skipped?: string;
  readonly verdict: CellVerdict;
  readonly repeats: number;
  /** Where the data decided how many: the rule's metric and how it stood. */
  readonly stopping?: StoppingFacts;
  readonly concurrency: number;
  readonly max_tokens: number;
  readonly metrics: Readonly<Record<MetricId, MetricValue>>;
  /** The figures of every repeat alone. */
  readonly by_repeat: readonly RepeatFigures[];
  /** The figures of every label of the data set; empty where items have none. */
  readonly by_subject: readonly SubjectFigures[];
  readonly energy: CellEnergy;
  /** Net of the idle host, and energy by phase of the calls. */
  readonly energy_detail: EnergyDetail;
  readonly baselines: readonly BaselineFact[];
  readonly counts: CellCounts;
  readonly failed_ratio: number | null;
  readonly guess_rate: number | null;
  readonly above_guessing: boolean | null;
  readonly accuracy_bounds: { readonly lo: number; readonly hi: number } | null;
  /** Both modes side by side, and later gradings; null in runs that keep no grades. */
  readonly grading: Grading | null;
  /** On the front of accuracy against energy per query among valid and flagged cells of its workload and tier. */
  readonly on_front: boolean;
  /** Its figures beside what the hardware can do, each with the calculation, or why it was not checked. */
  readonly physics: readonly PhysicsFinding[];
  readonly ledgers: readonly DomainLedger[];
  /** How its queries were sent and what its server said, a member a sitting. */
  readonly load: readonly LoadFacts[];
  readonly provenance: CellProvenance | null;
  /** Segments that are not whole, in words. */
  readonly torn: readonly string[];
}

/** Power of one domain over time: mean power between successive points, so that the area is the energy booked. */
export interface PowerTrace {
  readonly domain: string;
  readonly provenance: Provenance;
  readonly in_boundary: boolean;
  /** Seconds since the run began. */
  readonly t_s: readonly number[];
  /** W; null where recording was interrupted. */
  readonly power_w: readonly (number | null)[];
}

/** A cell's measured window on the run's time axis. */
export interface CellSpan {
  readonly cell_id: string;
  readonly start_s: number;
  readonly end_s: number;
}

/** Power over the whole run, and which cell ran when. */
export interface Timeline {
  readonly traces: readonly PowerTrace[];
  readonly spans: readonly CellSpan[];
}

/** Something a reader might expect to be in the numbers and is not. */
export interface NotMeasured {
  readonly code: string;
  readonly text: string;
}

/** One source as the run used it; `period_ns` is the time between two readings. */
export interface PowerFacts {
  readonly source: string;
  readonly provenance: Provenance;
  readonly period_ns: number;
  readonly domains: readonly Domain[];
  /** What its recorders had to say, over all sittings, as `explainFlag` reads it. */
  readonly flags: readonly string[];
}

/** A run, computed: what tables, files and the page are made of. */
export interface RunResults {
  readonly results_version: number;
  readonly metric_spec_version: number;
  readonly run_id: string;
  readonly name: string;
  readonly status: RunManifest['status'];
  readonly perwatt_version: string;
  readonly protocol: RunManifest['matrix']['protocol'];
  readonly seed: number;
  readonly matrix_sha256: string;
  readonly clocks: RunManifest['clocks'];
  readonly host: HostFacts;
  /** Model ids in the order of the matrix; a model's place fixes its colour. */
  readonly models: readonly string[];
  readonly datasets: readonly string[];
  readonly strategies: readonly string[];
  readonly metrics: readonly Metric<MetricId>[];
  readonly cells: readonly CellResult[];
  readonly power: readonly PowerFacts[];
  readonly left_out: RunManifest['left_out'];
  readonly not_measured: readonly NotMeasured[];
  readonly timeline: Timeline;
  /** A few queries by cell id. */
  readonly shown_queries: Readonly<Record<string, readonly ShownQuery[]>>;
  /** Answers in which nothing was found, by cell id; the first hundred of each. */
  readonly unparsed_answers: Readonly<Record<string, readonly UnparsedAnswer[]>>;
}

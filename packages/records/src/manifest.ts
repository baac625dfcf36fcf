import type {
  AxisName,
  BlockKind,
  CellOrder,
  DatasetFile,
  Domain,
  EndpointFacts,
  GraderMode,
  MatrixFile,
  PromptFacts,
  Provenance,
  RecorderStatus,
  SloLimits,
  SteadyRule,
  TableName,
  VariantEntry,
} from '@perwatt/core';
import type {
  BoundFacts,
  CellCapFacts,
  CoolDownFacts,
  DeviceFacts,
  DriftFacts,
  ObservedFacts,
  PowerCapFacts,
  RoleLedger,
  StoppingFacts,
  WarmUpFacts,
} from './experiment-facts.js';
import type { ServerLoad } from './server-load.js';

/** A decimal string of ns on the run's clock: JSON numbers end at 104 days of uptime. */
export type InstantText = string;

/** One finished Arrow segment: what a reader must find for it to be whole. */
export interface SegmentEntry {
  /** Path within its folder, for example `calls-0.arrows`. */
  readonly file: string;
  readonly table: TableName;
  readonly sitting: number;
  readonly rows: number;
  readonly batches: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** `run.json`: what the run is. Written once at the start; only `status`, `ended` and `power` change later. */
export interface RunManifest {
  readonly schema_version: number;
  readonly metric_spec_version: number;
  readonly run_id: string;
  readonly perwatt_version: string;
  readonly status: 'running' | 'done' | 'interrupted';
  /** The matrix as resolved: defaults filled in, paths absolute. */
  readonly matrix: MatrixFile;
  /** sha256 of the resolved matrix; a resume with another one is refused. */
  readonly matrix_sha256: string;
  /** Cell ids in the order of execution. */
  readonly order: readonly string[];
  readonly host: HostFacts;
  /** Wall time, once: the clock's reading and the wall time of that moment, per sitting of the run. */
  readonly clocks: readonly ClockZero[];
  /** Models, endpoints or data sets that could not be had, with the reason; their cells are left out. */
  readonly left_out: readonly { readonly what: string; readonly reason: string }[];
  readonly power: readonly PowerFile[];
  /** The rule that gave `order`; absent in runs of before it was kept. */
  readonly order_rule?: OrderFacts;
  /** Cells that the matrix itself leaves out, and why; absent where it leaves out none. */
  readonly pruned?: readonly PrunedCell[];
  /** The runs that were put together into this one; absent in a run that was made in one place. */
  readonly merged?: readonly MergedRun[];
  /** Devices of the host as its last start found them; absent in runs of before they were asked for. */
  readonly devices?: readonly DeviceFacts[];
  /** The power limit that its cells changed; absent where none was touched. */
  readonly power_cap?: PowerCapFacts;
}

/** How the cells of a run were put in order. */
export interface OrderFacts {
  readonly order: CellOrder;
  readonly blocks: BlockKind;
  readonly seed: number;
}

/** A point of the product of the axes that is no cell, and why. */
export interface PrunedCell {
  readonly point: CellPoint;
  readonly reason: string;
}

/** A run whose cells another took over: where and when they were measured. Cells and rows keep its `run_id`. */
export interface MergedRun {
  readonly run_id: string;
  readonly perwatt_version: string;
  readonly host: HostFacts;
  readonly clocks: readonly ClockZero[];
  /** Ids of the cells that came from it, in its order. */
  readonly cells: readonly string[];
  /** Its matrix, where not all runs had the same. */
  readonly matrix?: MatrixFile;
}

/** The machine a run was made on. Null where the system does not tell. */
export interface HostFacts {
  readonly hostname: string;
  readonly os: string;
  readonly kernel: string;
  readonly arch: string;
  readonly cpu: string | null;
  /** Hardware threads, and physical cores. */
  readonly threads: number;
  readonly cores: number | null;
  readonly memory_bytes: number;
  readonly virtual_machine: string | null;
  readonly governor: string | null;
  readonly node: string;
}

/** What the run's clock read at a wall time (ISO 8601, UTC). */
export interface ClockZero {
  readonly boot_id: string | null;
  readonly at_ns: InstantText;
  readonly wall_time: string;
}

/** One segment of samples of one source: `power/<source>-<seg>.arrows`. */
export interface PowerFile {
  readonly file: string;
  readonly source: string;
  readonly provenance: Provenance;
  readonly period_ns: number;
  readonly domains: readonly Domain[];
  readonly boot_id: string | null;
  /** How its recorder fared when it was last looked at, with its flags; absent in runs of before they were kept. */
  readonly status?: RecorderStatus;
  /** Null while it is being written, and for ever when its process was killed. */
  readonly segment: SegmentEntry | null;
  /** Its readings beside power; null or absent when the source has no channels. */
  readonly channels?: ChannelFile | null;
}

/** One segment of channel readings of one source: `power/<source>-channels-<seg>.arrows`. */
export interface ChannelFile {
  readonly file: string;
  /** Null while it is being written, and for ever when its process was killed. */
  readonly segment: SegmentEntry | null;
}

/** A flag of the recorder of one source, as `explainFlag` reads it. */
export interface SourceFlag {
  readonly source: string;
  readonly flag: string;
}

/** What one cell is: one value of every axis; of variants only where the matrix has any. */
export type CellPoint = Readonly<Record<AxisName, string> & { variant?: string }>;

/** Idle power of one domain: a mean, and its 95 % interval from the spread within the baseline. */
export interface BaselinePower {
  readonly domain: string;
  readonly power_w: number | null;
  readonly lo_w: number | null;
  readonly hi_w: number | null;
  /** Why `power_w` is null. */
  readonly reason: string | null;
}

/** Idle power of every domain over one span. */
export interface Baseline {
  /** Host without a model, or with the model loaded and no call in flight. */
  readonly kind: 'host_idle' | 'loaded_idle';
  readonly when: 'before' | 'after';
  readonly start_ns: InstantText;
  readonly end_ns: InstantText;
  /** Taken for several cells at once (protocol `quick`). */
  readonly shared: boolean;
  readonly powers: readonly BaselinePower[];
}

/** How the queries of a sitting were sent. Members that only an open loop has are null in a closed one. */
export interface LoopFacts {
  readonly kind: 'open' | 'closed';
  /** Digest of the due times. */
  readonly schedule_sha256: string | null;
  /** Mean rate of the due times, 1/s; null below two. */
  readonly offered_per_s: number | null;
  /** Queries that had a due time. */
  readonly due: number | null;
  /** Queries that were due while the cap was reached. */
  readonly waited: number | null;
  readonly most_in_flight: number;
  /** Of a load with conversations: what became of turns whose parents were late, and of how many. */
  readonly turns?: TurnCounts;
}

/** What became of the turns of conversations. */
export interface TurnCounts {
  /** `wait`, `drop` or `send`; null where turns go out whatever they go on from. */
  readonly policy: string | null;
  /** From the end of a turn to the next, s; where turns wait. */
  readonly think_s: number;
  /** Whose answers the earlier turns were sent with. */
  readonly history: string;
  /** Turns that were due before their parents had ended. */
  readonly late: number;
  /** Turns that were left out for it, those that followed them included. */
  readonly dropped: number;
}

/** One session of work on a cell. A crash leaves `state: open`; the resume settles it as `crashed`. */
export interface Sitting {
  readonly sitting: number;
  readonly state: 'open' | 'closed' | 'crashed';
  readonly boot_id: string | null;
  /** The measured window, warm-up and baselines excluded. `end_ns` is null while open. */
  readonly start_ns: InstantText;
  readonly end_ns: InstantText | null;
  readonly warmup_calls: number;
  readonly baselines: readonly Baseline[];
  /** CPU time of processes that are not the load's, as a share of one core; null when not known. */
  readonly foreign_load_ratio: number | null;
  /** Whether the host slept within the window; null when not known. */
  readonly suspended: boolean | null;
  /** What the recorders of its energy had to say by its end; absent in runs of before it was kept. */
  readonly power_flags?: readonly SourceFlag[];
  /** How its queries were sent; absent in runs of before it was kept, and after a crash. */
  readonly loop?: LoopFacts;
  /** What the server said of its load; null where it offers nothing, absent in runs of before it was asked. */
  readonly server_load?: ServerLoad | null;
  /** How it warmed up; absent where a fixed number of queries did it. */
  readonly warm_up?: WarmUpFacts;
  /** How the wait for an idle machine before it ended; absent where a fixed pause did it. */
  readonly cool_down?: CoolDownFacts;
  /** The power limit that it ran under; absent where none was set. */
  readonly power_cap?: CellCapFacts;
  /** What really answered it; absent in runs of before it was kept. */
  readonly observed?: ObservedFacts;
  /** What answered otherwise before; absent where nothing did. */
  readonly drift?: DriftFacts;
}

/** sha256 of a cell as the matrix declares it, with defaults and digests filled in, and as what answered it last reports itself. */
export interface CellHashes {
  readonly declared: string;
  readonly resolved: string;
  /** Absent until it was measured, and in runs of before it was kept. */
  readonly observed?: string;
}

/** One reason of a verdict: what is the matter, and what would mend it. */
export interface VerdictReason {
  readonly code: string;
  readonly text: string;
  readonly fix: string | null;
}

/** Whether a cell's figures may be quoted, and why not. */
export interface CellVerdict {
  readonly state: 'valid' | 'flagged' | 'invalid';
  readonly reasons: readonly VerdictReason[];
}

/** Meter and ledger of one domain over all sittings of a cell. Conservation: `queries_j + unattributed_j = meter_j`. */
export interface DomainLedger {
  readonly domain: string;
  readonly in_total: boolean;
  readonly meter_j: number | null;
  readonly queries_j: number | null;
  /** Integrated on its own over the spans without surviving calls. */
  readonly unattributed_j: number | null;
  /**
   * The meter less the idle, loaded model, and less the idle host; null without a baseline, absent in older runs. May be
   * negative. A sitting that answered nothing and has no baseline is left out of both. The idle host of after a sitting
   * joins when it is measured.
   */
  readonly net_j?: number | null;
  readonly net_host_j?: number | null;
  /** Part of `unattributed_j` in crashed sittings after their last surviving call. */
  readonly lost_work_j: number | null;
  readonly coverage_ratio: number;
  readonly reason: string | null;
}

/** What a replay measured besides its rows. */
export interface ReplayFacts {
  readonly trace: {
    readonly path: string;
    readonly format: string;
    readonly sha256: string;
    /** Calls of the replay, a row each when it is done. */
    readonly rows: number;
  };
  readonly workers: number;
  /** How the client fared, a member a sitting; null for one that a crash ended. */
  readonly client: readonly (ClientFacts | null)[];
  /** The server's counts beside those of a local tokenizer, where one was named. */
  readonly tokens?: TokenFacts;
}

/** How the server's counts stand to a local tokenizer's; null where nothing was compared. */
export interface TokenFacts {
  /** Who counted, in words. */
  readonly counter: string;
  readonly answers: CountedTokens | null;
  readonly prompts: CountedTokens | null;
}

/** Tokens of the same texts by two counts. */
export interface CountedTokens {
  readonly compared: number;
  readonly server_tokens: number;
  readonly local_tokens: number;
  readonly difference_ratio: number | null;
  /** More than 10 % apart. */
  readonly differs: boolean;
}

/** How the client fared in one sitting, and why it may have set the result; no reason when nothing points to it. */
export interface ClientFacts {
  readonly health: Readonly<Record<string, number | null>>;
  readonly limits: readonly { readonly code: string; readonly text: string }[];
}

/** `cell.json` */
export interface CellFile {
  readonly schema_version: number;
  readonly run_id: string;
  readonly cell_id: string;
  readonly point: CellPoint;
  /** Place in the order of execution, from 0. */
  readonly position: number;
  readonly seed: number;
  readonly repeats: number;
  readonly concurrency: number;
  readonly max_tokens: number;
  readonly status: 'planned' | 'running' | 'done' | 'failed';
  /** Why it failed, else null. */
  readonly failure: string | null;
  readonly verdict: CellVerdict | null;
  readonly provenance: CellProvenance | null;
  readonly sittings: readonly Sitting[];
  readonly ledgers: readonly DomainLedger[];
  /** Absent where a strategy has one role at one endpoint, and in older runs. */
  readonly role_ledgers?: readonly RoleLedger[];
  /** What models that grade took, by sitting; absent where none did. In no other figure of the cell. */
  readonly grading_ledgers?: readonly GradingLedger[];
  readonly segments: readonly SegmentEntry[];
  /** Gradings after the run's own, in order; absent where there were none. Rows of others are no finished grading. */
  readonly gradings?: readonly GradingFacts[];
  /** Only of a replay. */
  readonly replay?: ReplayFacts;
  /** Block of the order that it stands in, and its place there, from 0; absent in runs of before it was kept. */
  readonly block?: number;
  readonly block_position?: number;
  readonly hashes?: CellHashes;
  /** The variant with all its settings; absent where the matrix has none. */
  readonly variant?: VariantEntry;
  /** What of its settings tables show; null where nothing says. Absent in runs of before it was kept. */
  readonly settings?: CellSettings;
  /** Limits of a good call, and the rule of the steady window; absent where the load names none. */
  readonly slo?: SloLimits;
  readonly steady?: SteadyRule;
  /** Why the last start of the run passed it over, its status as it was; null or absent where it was tried. */
  readonly skipped?: string | null;
  /** Where a rule ends the repeats: how it stands; `repeats` is then the most there may be. */
  readonly stopping?: StoppingFacts;
  /** The runs whose repeats it holds, where they are several; rows keep the id of theirs. */
  readonly merged_from?: readonly string[];
}

/** One grading of a cell's stored answers after the run. */
export interface GradingFacts {
  /** In the rows of `grades`. */
  readonly pass: number;
  readonly grader: string;
  readonly grader_version: number;
  readonly modes: readonly GraderMode[];
  /** Named policies, as given. */
  readonly policy: Readonly<Record<string, unknown>>;
  /** Segment of the rows. */
  readonly file: string;
  /** Version of Perwatt that graded. */
  readonly perwatt_version: string;
}

/** Settings that matrices vary beside their axes, as declared. */
export interface CellSettings {
  readonly quantisation: string | null;
  readonly context_tokens: number | null;
  /** Engine flags in one text, as they are passed. */
  readonly engine_flags: string | null;
  /** Devices a model is spread over: `tensor=2 pipeline=1`. */
  readonly parallel: string | null;
  readonly reasoning_effort: string | null;
  /** W; absent in runs of before it could be set. */
  readonly power_cap_w?: number | null;
}

/** What a model that grades took for the answers of one sitting, after it. */
export interface GradingLedger {
  readonly sitting: number;
  readonly role: 'judge' | 'verifier';
  readonly model: string;
  readonly calls: number;
  readonly failed_calls: number;
  /** Replies that were known already and cost nothing. */
  readonly cached: number;
  /** Replies that could not be read. */
  readonly unreadable: number;
  /** Null once the count of one call isn't known. */
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  /** Pairs judged in both orders, and those whose orders contradict each other. */
  readonly pairs: number;
  readonly order_flips: number;
  /** When it began and ended, ns on the run's clock. */
  readonly start_ns: string;
  readonly end_ns: string;
  /** Joules of the meters of what answered, over that time; null where they aren't known. */
  readonly energy_j: number | null;
  /** Why there are none, else null. */
  readonly energy_reason: string | null;
}

/** What made a cell's answers and grades, by version and digest. */
export interface CellProvenance {
  /** What answered calls to `main`. */
  readonly endpoint: EndpointFacts;
  /** What answered calls to the strategy's other endpoints, by the names that it calls them by; absent where it has none. */
  readonly bound?: Readonly<Record<string, BoundFacts>>;
  readonly dataset: {
    readonly id: string;
    readonly version: number;
    readonly digest: string;
    readonly items: number;
    readonly licence: string;
    readonly guess_rate: number;
    /** How the prompts were made; absent where the data set has one fixed way, and in older runs. */
    readonly prompt?: PromptFacts;
    /** Items whose gold is known to be wrong or ambiguous. */
    readonly known_bad?: number;
    /** Its authors ask not to show its questions in plain text. */
    readonly withhold?: true;
    /** sha256 of the files it was read from, by name; null where a limit ended the reading. */
    readonly files?: readonly DatasetFile[];
  };
  readonly strategy: { readonly id: string; readonly version: number; readonly params: unknown };
  /** `mode`: whose verdicts stand in `queries`; absent in older runs, which had none but `robust`. */
  readonly grader: { readonly id: string; readonly version: number; readonly mode?: GraderMode };
  readonly protocol: MatrixFile['protocol'];
}

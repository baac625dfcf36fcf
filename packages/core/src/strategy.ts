import type { CallInput, Sampling } from './call-input.js';
import type { ToolCall, Usage } from './client.js';
import type { Item } from './grading.js';
import type { Instant } from './units.js';
import type { WorldEpisode } from './world.js';

/** What a call is for; energy and tokens are reported by role. */
export type Role =
  | 'solver'
  | 'root'
  | 'clone'
  | 'member'
  | 'critic'
  | 'summariser'
  | 'verifier'
  | 'meta'
  | 'supervisor'
  | 'worker'
  | 'proposer'
  | 'judge';

/** One request to a client, not yet sent. */
export interface CallRequest {
  /** Unique within its query. */
  readonly id: string;
  /** Calls that had to end first. The critical path of the query is read from these. */
  readonly parents: readonly string[];
  readonly role: Role;
  /** Logical name (`main`, `strong`, `weak`, `judge`, …) that the configuration binds to a client. */
  readonly endpoint: string;
  readonly input: CallInput;
  readonly sampling: Sampling;
  readonly round?: number;
  readonly branch?: number;
  /** Calls with the same key share a prompt prefix and are worth sending together. */
  readonly prefix_key?: string;
}

/** What came of one request, as a strategy sees it. `error` still carries the text that had arrived. */
export interface CallResult {
  readonly id: string;
  readonly text: string;
  readonly reasoning?: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'error';
  /** The call's status when it failed (`timeout`, `connect_error` …). */
  readonly error_code?: string;
  readonly usage: Usage | null;
  /** Mean natural logarithm of the probability of the answer's tokens; null or absent where the server does not say. */
  readonly mean_logprob?: number | null;
  readonly sent_ns: Instant;
  readonly end_ns: Instant;
}

/** Random numbers from the run's seed: [0, 1). */
export type Rng = () => number;

/** What one call answered, for the record of a vote. */
export interface Candidate {
  readonly call_id: string;
  /** Canonical answer; null when none was found. */
  readonly answer: string | null;
  /** What a verifier gave it, greater is better; null when its verdict could not be read, absent without a verifier. */
  readonly score?: number | null;
}

/** How a query ended. A query that abstains has no answer to grade and says why. */
export type Outcome =
  | {
      readonly status: 'answered';
      /** The text to grade: a call's whole text, or the answer that won. */
      readonly answer: string;
      /** The call whose text `answer` is, so that its finish reason counts; null when it stems from several. */
      readonly call_id: string | null;
      readonly candidates: readonly Candidate[];
      /** Why this answer won, one line per decision. */
      readonly decisions: readonly string[];
    }
  | {
      readonly status: 'abstained' | 'failed';
      readonly reason: string;
      readonly candidates: readonly Candidate[];
    };

/** How answers are read and compared; comes from the dataset's grader. */
export interface Answers {
  /** The canonical answer in `text`, or null when there is none. */
  extract(text: string): string | null;
  same(a: string, b: string): boolean;
}

/** What a strategy needs from its endpoints; checked before a run starts. */
export interface Needs {
  readonly endpoints: readonly string[];
  /** Bare text to go on from, not chats. */
  readonly completions?: true;
  readonly tools?: true;
  /** Log-probabilities of the tokens that were drawn. */
  readonly logprobs?: true;
  /** The data set's own grader against the gold: an upper bound that no deployment has. */
  readonly oracle?: true;
  /** A world that the items are set in. */
  readonly environment?: true;
  /** A language in which the items' programs can be run. */
  readonly language?: true;
  /** Energy of a query while it goes on. */
  readonly energy?: true;
  /** A fitted router, named by a file. */
  readonly router?: string;
}

/** A small language whose programs can be run safely: bounded, without effects, the same on every machine. */
export interface SafeLanguage {
  readonly id: string;
  readonly version: number;
  /** The language in a few lines, for prompts. */
  readonly description: string;
  /** Runs `program` on `input`, both as text. A program that can't be read, fails or takes too many steps says why. */
  run(program: string, input: string): ProgramRun;
}

/** What came of running one program once. */
export type ProgramRun =
  | { readonly ok: true; readonly output: string; readonly steps: number }
  | { readonly ok: false; readonly reason: string };

/** A fitted router. */
export interface PromptRouter {
  /** Predicted probability, 0…1, that a prompt needs the stronger model. */
  readonly score: (prompt: string) => number;
  /** Probability from which it was fitted to ask the stronger model. */
  readonly threshold: number;
}

/** What a strategy is given beside the item: all its effects are data. */
export interface StrategyContext {
  readonly answers: Answers;
  readonly rng: Rng;
  /** `max_tokens` of the cell, for calls whose parameters don't set their own. */
  readonly max_tokens: number;
  /** Opens the item's world; present when the strategy needs an environment and the data set has one. */
  readonly openWorld?: () => WorldEpisode;
  /**
   * Whether the text of a call is right, by the data set's grader, which takes none that was cut at the token limit. Present when
   * the strategy needs an oracle.
   */
  readonly check?: (call: Pick<CallResult, 'text' | 'finish'>) => boolean;
  /** The language of the item's programs; present when the strategy needs one. */
  readonly language?: SafeLanguage;
  /** Energy of the query so far, J; null where it can't be told. Present when a budget of joules is set. */
  readonly energy_j?: () => number | null;
  /** A fitted router; present when the strategy needs one. */
  readonly router?: PromptRouter;
}

/** One parameter of a strategy, for people. */
export interface ParameterInfo {
  readonly name: string;
  /** In words: `whole number, 1 to 64`, `one of a, b`. */
  readonly type: string;
  /** Value where it is left out, as JSON; null where there is none. */
  readonly default: string | null;
  readonly summary: string;
}

/** How one item becomes calls and an answer. Bump `version` whenever the calls could change. */
export interface Strategy<P = unknown> {
  readonly id: string;
  readonly version: number;
  readonly summary: string;
  /** What these parameters need of endpoints and data set. */
  needs(params: P): Needs;
  /** Checks parameters from a configuration and fills in defaults; throws on a wrong or unknown one. */
  readonly params: {
    parse(input: unknown): P;
    /** What may be set, for help and documentation; absent where nothing may. */
    describe?(): readonly ParameterInfo[];
  };
  /** Calls that one item takes at most, for the estimate before a run. */
  calls(params: P): number;
  /** Yields batches whose calls may run in parallel; is resumed with one result per request, in their order. */
  run(
    item: Item,
    params: P,
    context: StrategyContext,
  ): AsyncGenerator<readonly CallRequest[], Outcome, readonly CallResult[]>;
}

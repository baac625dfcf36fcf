import type {
  AcceleratorEntry,
  AgentEntry,
  Arrivals,
  Client,
  Clock,
  Dataset,
  DatasetSpec,
  EndpointEntry,
  EngineEntry,
  Grader,
  Item,
  LateGrader,
  MatrixFile,
  ModelEntry,
  PowerSource,
  PromptRouter,
  SafeLanguage,
  Strategy,
  World,
} from '@perwatt/core';
import type { DeviceFacts, HostFacts, RunFolder } from '@perwatt/records';
import { eventLoopTimer, type LoadTimer } from './load/pacer.js';
import type { OpenPowerStream } from './power-stream.js';

/** What a client is made for, and where a server that it starts may keep its log. */
export interface ClientPlace {
  readonly accelerator: AcceleratorEntry;
  /** Calls that are served side by side. */
  readonly sequences: number;
  /** Folder for logs of servers; it need not be there. */
  readonly log_folder: string;
  /** Ends a start that takes long. */
  readonly signal: AbortSignal;
  /** Told what a start waits for. */
  readonly onProgress: (text: string) => void;
}

/** A model whose weights or endpoint are at hand. */
export interface PreparedModel {
  /** Identity of the weights where known (sha256), so that a cell's id follows them; null for an endpoint. */
  readonly sha256: string | null;
  /** The model's name as its endpoint knows it. */
  readonly request_model: string;
  /** Billions of weight bytes read per token, roughly, for the estimate of a dry run; null when unknown. */
  readonly weight_bytes: number | null;
  /**
   * Cells of one key share what their client opens, whatever their accelerator and load, so that it pays to put them one after the
   * other. Default: by model, accelerator and concurrency.
   */
  readonly keep?: string;
  /** A client for one accelerator. Not opened yet. */
  client(place: ClientPlace): Client;
}

/** CPU time spent so far, ns. */
export interface CpuTimes {
  readonly host_busy_ns: number;
  readonly own_ns: number;
}

/** A fitted router. */
export interface RouteScorer extends PromptRouter {
  /** Of its file, so that a cell's id follows it. */
  readonly sha256: string;
}

/** How a program ended. */
export interface CommandEnd {
  /** As a shell would say; null when it was stopped because it took too long. */
  readonly exit_code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs programs of the user's, without a shell. */
export interface Commands {
  /** Resolves when the program has ended, however it did; one that can't be started ends with 126 or 127. */
  run(argv: readonly string[], options: { readonly timeout_ms: number }): Promise<CommandEnd>;
  /** Runs a program should this process end before the returned function is called. */
  atExit(argv: readonly string[]): () => void;
}

/** When kernels are run beside the cells of a matrix. */
export type KernelPhase = 'before' | 'after';

/** Kernels to run beside the cells of a run. */
export interface KernelWork {
  readonly matrix: MatrixFile;
  /** The run that their rows go to. */
  readonly run: RunFolder;
  readonly phase: KernelPhase;
  readonly signal: AbortSignal;
  /** Told what is being done. */
  readonly onProgress: (text: string) => void;
}

/** Runs the kernels that inference is made of. */
export interface KernelRunner {
  /** Builds what is missing and checks what is asked for. Throws where kernels can't be run. */
  ready(matrix: MatrixFile): Promise<void>;
  /** Runs the kernels of the matrix and keeps their rows in the run; an interruption ends it early. */
  run(work: KernelWork): Promise<void>;
}

/** Everything of the outside world that a run uses. The command line fills it in; tests bring fakes. */
export interface HarnessDeps {
  readonly version: string;
  readonly clock: Clock;
  /** Waits on `clock`. Default: the event loop's, for a clock that runs by itself. */
  readonly timer?: LoadTimer;
  readonly wallTime: () => Date;
  readonly bootId: () => string | null;
  /** Time the host has slept since boot, ns; null where it can't be told. */
  readonly suspendedNs: () => number | null;
  readonly hostFacts: () => HostFacts;
  /** CPU time of the host and of this process with the given others; null where it can't be told. */
  readonly cpuTimes: (pids: readonly number[]) => CpuTimes | null;
  /**
   * The sources to read: those named, or the best present, and the meters and agents of the matrix. Empty where nothing
   * can be read; rejects when a meter or an agent that the matrix names can't be reached.
   */
  readonly powerSources: (
    wanted: MatrixFile['power'],
  ) => readonly PowerSource[] | Promise<readonly PowerSource[]>;
  /** How the samples of a source get to the run folder; within this thread unless given. */
  readonly openPowerStream?: OpenPowerStream;
  /** Devices of this host, as they are now; absent where there is nobody to ask. */
  readonly devices?: () => Promise<readonly DeviceFacts[]>;
  /** For `kernels` of the matrix; absent where none can be run. */
  readonly kernels?: KernelRunner;
  /** For the commands of `power_cap`; absent where none may be run. */
  readonly commands?: Commands;
  readonly loadDataset: (spec: DatasetSpec, seed: number) => Promise<Dataset>;
  /** Times of a trace's calls, ns from its first, never falling. Throws what reading it throws; absent where none can be read. */
  readonly traceTimes?: (trace: Extract<Arrivals, { readonly kind: 'trace' }>) => Promise<Float64Array>;
  readonly grader: (id: string) => Grader;
  /**
   * What judges in place of a grader when nothing is measured: in threads that can be killed, in a sandbox, or by a model. Null or
   * absent where the grader itself does.
   */
  readonly lateGrader?: (id: string) => LateGrader | null;
  readonly strategy: (id: string) => Strategy;
  /** The world that an item is set in, or null; absent where there are none. */
  readonly worldOf?: (item: Item) => World | null;
  /** The language of programs in items; absent where none can be run. */
  readonly language?: SafeLanguage;
  /** Reads a fitted router's file. Throws `INPUT_INVALID` for one that is none; absent where none can be read. */
  readonly routeScorer?: (file: string) => Promise<RouteScorer>;
  /** Finds weights, checks an endpoint, or sees what an engine would be started with. Throws `MODEL_UNAVAILABLE` when the model can't be had, other codes for mistakes. */
  readonly prepareModel: (
    entry: ModelEntry,
    endpoint: EndpointEntry | null,
    engine?: NamedEngine | null,
  ) => Promise<PreparedModel>;
}

/** An entry of `engines` with its name, and the agents that may start it. */
export interface NamedEngine {
  readonly id: string;
  readonly entry: EngineEntry;
  readonly agents: readonly AgentEntry[];
}

/** A timer that ends early, without an error, when `signal` aborts. */
export function pause(ms: number, signal: AbortSignal, timer: LoadTimer = eventLoopTimer): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = timer.after(ms, done);
    signal.addEventListener('abort', done);
  });
}

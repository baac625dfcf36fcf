import type { Command } from 'commander';
import type { Io } from './io.js';

/** What commands are made of beside the terminal. */
export interface CommandParts {
  readonly io: Io;
  readonly version: string;
}

type Load = (parts: CommandParts) => Promise<Command>;

const world = () => import('./world.js');

/** How each command is loaded, in the order of the help. None costs anything before it is asked for. */
const loaders: Readonly<Record<string, Load>> = {
  run: async ({ io, version }) =>
    (await import('./commands/run.js')).runCommand(io, (await world()).makeDeps(io, version)),
  replay: async ({ io, version }) =>
    (await import('./commands/replay.js')).replayCommand(
      io,
      (await world()).makeDeps(io, version)({ base: io.cwd, fetch: false }),
    ),
  view: async ({ io }) => (await import('./commands/view.js')).viewCommand(io),
  report: async ({ io }) => (await import('./commands/report.js')).reportCommand(io),
  publish: async ({ io }) => (await import('./commands/publish.js')).publishCommand(io),
  bundle: async ({ io, version }) => (await import('./commands/bundle.js')).bundleCommand(io, version),
  diff: async ({ io }) => (await import('./commands/diff.js')).diffCommand(io),
  results: async ({ io }) => (await import('./commands/results.js')).resultsCommand(io),
  compare: async ({ io }) => (await import('./commands/compare.js')).compareCommand(io),
  route: async ({ io }) => (await import('./commands/route.js')).routeCommand(io),
  query: async ({ io }) => (await import('./commands/query.js')).queryCommand(io),
  export: async ({ io }) => (await import('./commands/export.js')).exportCommand(io),
  verify: async ({ io }) => (await import('./commands/verify.js')).verifyCommand(io),
  merge: async ({ io }) => (await import('./commands/merge.js')).mergeCommand(io),
  train: async ({ io, version }) =>
    (await import('./commands/train.js')).trainCommand(io, {
      makeDeps: (await world()).makeDeps(io, version),
      version,
    }),
  doctor: async ({ io }) =>
    (await import('./commands/doctor.js')).doctorCommand(io, (await world()).doctorProbes(io)),
  agent: async ({ io }) => (await import('./commands/agent.js')).agentCommand(io),
  kernels: async ({ io, version }) =>
    (await import('./commands/kernels.js')).kernelsCommand(io, (await world()).kernelsWorld(io, version)),
  power: async ({ io, version }) =>
    (await import('./commands/power.js')).powerCommand(io, undefined, version),
  models: async ({ io }) => (await import('./commands/models.js')).modelsCommand(io),
  catalogue: async ({ io }) => (await import('./commands/catalogue.js')).catalogueCommand(io),
  datasets: async ({ io }) => (await import('./commands/datasets.js')).datasetsCommand(io),
  strategies: async ({ io }) => (await import('./commands/strategies.js')).strategiesCommand(io),
  trace: async ({ io }) => (await import('./commands/trace.js')).traceCommand(io),
  grade: async ({ io, version }) => (await import('./commands/grade.js')).gradeCommand(io, version),
  call: async ({ io }) => (await import('./commands/call.js')).callCommand(io),
  serve: async ({ io }) => (await import('./commands/serve.js')).serveCommand(io),
  import: async ({ io, version }) => (await import('./commands/import.js')).importCommand(io, version),
  completions: async (parts) =>
    (await import('./commands/completions.js')).completionsCommand(parts.io, () => loadCommands([], parts)),
  footprint: async ({ io }) => (await import('./commands/footprint.js')).footprintCommand(io),
};

/** The command that `args` name, or all of them where they name none: for the help, and to suggest what was meant. */
export async function loadCommands(args: readonly string[], parts: CommandParts): Promise<Command[]> {
  const named = args.find((arg) => !arg.startsWith('-'));
  if (named === undefined && args.some((arg) => arg === '-V' || arg === '--version')) return [];
  const only = named !== undefined && Object.hasOwn(loaders, named) ? loaders[named] : undefined;
  return Promise.all((only === undefined ? Object.values(loaders) : [only]).map((load) => load(parts)));
}

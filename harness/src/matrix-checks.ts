import { type Condition, didYouMean, type MatrixFile, type PointAxis, pointAxes } from '@perwatt/core';
import { axisId } from './axis-id.js';
import { knownKeys } from './known-keys.js';
import { lawChecks } from './simulate/law-checks.js';

interface Problem {
  readonly path: PropertyKey[];
  readonly text: string;
}

/** A path in the file, in words: `axes.model[0].id`. */
export const place = (path: readonly PropertyKey[]) =>
  path.length === 0
    ? 'the file'
    : path.map((p, i) => (typeof p === 'number' ? `[${p}]` : `${i === 0 ? '' : '.'}${String(p)}`)).join('');

/** What is wrong between the parts of a matrix that are right by themselves. */
export function crossChecks(matrix: MatrixFile): Problem[] {
  return [
    ...duplicates(matrix),
    ...danglingEndpoints(matrix),
    ...namesWithoutServer(matrix),
    ...danglingEngines(matrix),
    ...danglingPoints(matrix),
    ...danglingConditions(matrix),
    ...lawChecks(matrix),
    ...danglingBindings(matrix),
    ...capsWithoutCommands(matrix),
    ...kernelsOfNothing(matrix),
  ];
}

function* duplicates(matrix: MatrixFile) {
  for (const axis of pointAxes) {
    const seen = new Set<string>();
    for (const [index, entry] of (matrix.axes[axis] ?? []).entries()) {
      const id = axisId(entry);
      if (seen.has(id)) {
        yield {
          path: ['axes', axis, index],
          text: `axes.${axis} holds "${id}" twice; give each value its own id`,
        };
      }
      seen.add(id);
    }
  }
}

/** Every model with its place in the file. */
const placedModels = ({ axes, models = [] }: MatrixFile) => [
  ...axes.model.map((model, index) => ({ model, path: ['axes', 'model', index] })),
  ...models.map((model, index) => ({ model, path: ['models', index] })),
];

function* danglingEndpoints(matrix: MatrixFile) {
  const known = Object.keys(matrix.endpoints ?? {});
  for (const { model, path } of placedModels(matrix)) {
    if (model.endpoint === undefined || known.includes(model.endpoint)) continue;
    const names =
      known.length === 0 ? 'there is no `endpoints` section' : `endpoints are ${known.join(', ')}`;
    const text = `${place(path)}.endpoint names "${model.endpoint}", but ${names}`;
    yield { path: [...path, 'endpoint'], text };
  }
}

/** `model` of models that no server serves: the embedded engine knows the catalogue and files only. */
function* namesWithoutServer(matrix: MatrixFile): Generator<Problem> {
  const served = (matrix.axes.variant ?? []).some((own) => own.model !== undefined);
  for (const { model, path } of placedModels(matrix)) {
    const own = model.endpoint ?? model.engine ?? model.path;
    if (served || model.model === undefined || own !== undefined) continue;
    const text = `${place(path)}.model is what a server knows or loads; name its \`endpoint\` or \`engine\` too, or a file by \`path\``;
    yield { path: [...path, 'model'], text };
  }
}

function* danglingEngines(matrix: MatrixFile) {
  const { engines = {}, power } = matrix;
  const known = Object.keys(engines);
  const names = known.length === 0 ? 'there is no `engines` section' : `engines are ${known.join(', ')}`;
  for (const {
    model: { engine },
    path,
  } of placedModels(matrix)) {
    if (engine === undefined || known.includes(engine)) continue;
    const text = `${place(path)}.engine names "${engine}", but ${names}`;
    yield { path: [...path, 'engine'], text };
  }
  const agents = (power?.agents ?? []).map(({ id }) => id);
  for (const [id, entry] of Object.entries(engines)) {
    if (entry.kind !== 'agent' || agents.includes(entry.agent)) continue;
    const text = `engines.${id}.agent names "${entry.agent}", but \`power.agents\` has ${agents.join(', ') || 'none'}`;
    yield { path: ['engines', id, 'agent'], text };
  }
}

function* kernelsOfNothing({ kernels, simulate }: MatrixFile): Generator<Problem> {
  if (kernels !== undefined && simulate !== undefined)
    yield { path: ['kernels'], text: 'kernels are run on real devices, and `simulate` has none' };
}

function* capsWithoutCommands({ axes, power_cap }: MatrixFile): Generator<Problem> {
  for (const [index, { power_cap_w }] of (axes.variant ?? []).entries()) {
    if (power_cap_w === undefined || power_cap !== undefined) continue;
    const path = ['axes', 'variant', index, 'power_cap_w'];
    yield {
      path,
      text: `${place(path)} needs \`power_cap\`: the commands that set, read and restore a limit`,
    };
  }
}

const danglingBindings = (matrix: MatrixFile): Problem[] => [
  ...sameNames(matrix),
  ...matrix.axes.strategy.flatMap(({ bind = {} }, index) =>
    Object.entries(bind).flatMap(([endpoint, bound]) => {
      const path = ['axes', 'strategy', index, 'bind', endpoint];
      return bindingProblems(matrix, bound, path).map((text) => ({ path, text: `${place(path)} ${text}` }));
    }),
  ),
];

function* sameNames({ axes, models = [] }: MatrixFile): Generator<Problem> {
  const seen = new Set(axes.model.map(({ id }) => id));
  for (const [index, { id }] of models.entries()) {
    if (seen.has(id))
      yield { path: ['models', index], text: `models holds "${id}", which another model is called` };
    seen.add(id);
  }
}

type Bound = NonNullable<MatrixFile['axes']['strategy'][number]['bind']>[string];

/** What is wrong with one member of `bind`, in words that follow its place. */
function bindingProblems(matrix: MatrixFile, bound: Bound, path: readonly PropertyKey[]): string[] {
  const { model, accelerator } = typeof bound === 'string' ? { model: bound } : bound;
  const known = [...placedModels(matrix).map((placed) => placed.model.id), 'main'];
  const devices = accelerator === undefined ? [] : unknownValues(matrix, 'accelerator', [accelerator]);
  return [
    ...(path.at(-1) === 'main' ? ['is not for `bind`: it is the model of the axis'] : []),
    ...(known.includes(model) ? [] : [`names "${model}"${didYouMean(model, known)}`]),
    ...devices.map(({ value, known: values }) => `names "${value}", which is not on the axis (${values})`),
  ];
}

/** Values by axis of one rule, and those of them that are not on the axis. */
function unknownValues(matrix: MatrixFile, axis: PointAxis, values: readonly string[]) {
  const ids = (matrix.axes[axis] ?? []).map((entry) => axisId(entry));
  const known = ids.join(', ') || 'it is empty';
  return values.filter((value) => !ids.includes(value)).map((value) => ({ value, known }));
}

function danglingPoints(matrix: MatrixFile): Problem[] {
  const rules = (['include', 'exclude'] as const).flatMap((section) =>
    (matrix[section] ?? []).map((point, index) => ({ section, index, point })),
  );
  return rules.flatMap(({ section, index, point }) =>
    pointAxes.flatMap((axis) =>
      unknownValues(matrix, axis, [point[axis] ?? []].flat().map(String)).map(({ value, known }) => ({
        path: [section, index, axis],
        text: `${section}[${index}].${axis} names "${value}", which is not on the axis (${known})`,
      })),
    ),
  );
}

interface PlacedCondition {
  readonly path: PropertyKey[];
  readonly condition: Condition | undefined;
}

function conditionsOf(matrix: MatrixFile): PlacedCondition[] {
  const ofValues = pointAxes.flatMap((axis) =>
    (matrix.axes[axis] ?? []).map((entry, i) => ({
      path: ['axes', axis, i, 'when'],
      condition: (entry as { readonly when?: Condition | undefined }).when,
    })),
  );
  const ofConstraints = (matrix.constraints ?? []).flatMap((constraint, i) =>
    (['when', 'require', 'forbid'] as const).map((part) => ({
      path: ['constraints', i, part],
      condition: constraint[part],
    })),
  );
  return [...ofValues, ...ofConstraints];
}

/** Conditions on an axis that is none, or on a value that is not on its axis. */
const danglingConditions = (matrix: MatrixFile): Problem[] =>
  conditionsOf(matrix).flatMap(({ path, condition = {} }) =>
    Object.entries(condition).flatMap(([key, test]) => memberProblems(matrix, [...path, key], test)),
  );

function memberProblems(matrix: MatrixFile, path: PropertyKey[], test: Condition[string]): Problem[] {
  const key = String(path.at(-1));
  const where = place(path);
  const axis = pointAxes.find((name) => name === key.split('.')[0]);
  if (axis === undefined) return [{ path, text: `${where} names no axis; axes are ${pointAxes.join(', ')}` }];
  if (axis !== key) return settingProblems(matrix, axis, path);
  return unknownValues(matrix, axis, namedBy(test)).map(({ value, known }) => ({
    path,
    text: `${where} names "${value}", which is not on the axis (${known})`,
  }));
}

/** A condition on a setting that no value of the axis has or could have: it would hold nowhere, and say nothing. */
function settingProblems(matrix: MatrixFile, axis: PointAxis, path: PropertyKey[]): Problem[] {
  const [, setting = ''] = String(path.at(-1)).split('.');
  const entries: readonly object[] = matrix.axes[axis] ?? [];
  const known = [...new Set([...knownKeys(['axes', axis, 0]), ...entries.flatMap(Object.keys)])];
  if (known.includes(setting)) return [];
  return [{ path, text: `${place(path)} names no setting of the axis${didYouMean(setting, known)}` }];
}

function namedBy(test: Condition[string]): string[] {
  if (typeof test !== 'object' || Array.isArray(test)) return [test].flat().map(String);
  return test.not === undefined ? [] : [test.not].flat().map(String);
}

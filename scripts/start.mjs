// `npm start`: installs, builds, fetches the embedded models and runs the quick-start matrix to a report.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  build,
  checkPrerequisites,
  fetchModels,
  giveUp,
  install,
  perwatt,
  root,
  run,
  StageError,
  stage,
} from './stages.mjs';

const help = `npm start -- [options]

Installs, builds, fetches two small models and runs examples/quickstart.yaml to a report.

  --no-native   leave the Rust power sampler out: answers are graded and timed, nothing is metered
  --matrix F    run another matrix file
  --out DIR     put run folders there instead of runs/
  --help        show this
`;

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log(help);
  process.exit(0);
}
const value = (flag) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
const known = ['--no-native', '--matrix', '--out'];
const unknown = args.find((arg, i) => !known.includes(arg) && !['--matrix', '--out'].includes(args[i - 1]));
const native = !args.includes('--no-native');
const matrix = value('--matrix') ?? join('examples', 'quickstart.yaml');

try {
  if (unknown) throw new StageError(`unknown option ${unknown}`, 'See `npm start -- --help`.');
  await stage('check what is needed', () => checkPrerequisites({ native }));
  await stage('install packages', install);
  await stage('build', () => build({ native }));
  const { default: lock } = await import('../packages/clients/models/models.lock.json', {
    with: { type: 'json' },
  }).catch(() => ({ default: { files: {} } }));
  const text = readFileSync(join(root, matrix), 'utf8');
  const wanted = Object.keys(lock.files).filter((id) => text.includes(id));
  if (wanted.length > 0) await stage('fetch models', () => fetchModels(wanted));
  const out = value('--out') ?? 'runs';
  await stage('run the matrix', async () => {
    console.error('');
    const { code } = await run(process.execPath, [perwatt, 'run', matrix, '--out', out], { show: true });
    if (code === 130) process.exit(130);
    if (code !== 0) throw new StageError(`the run failed (exit code ${code})`, 'See the messages above.');
  });
} catch (error) {
  giveUp(error);
}

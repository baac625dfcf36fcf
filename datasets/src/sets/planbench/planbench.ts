import { isRecord } from '../../options.js';
import { fieldOf, type Row, requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { planbenchCard } from './card.js';
import { planOf, readStatement } from './statement.js';

/** PlanBench's plan generation: the prompt file of the repository, or one of its instances a line. */
export const planbench = fileSet({
  card: planbenchCard,
  answer_tokens: 1024,
  prompts: {
    ours: {
      version: 1,
      source: 'Perwatt',
      text: '{rules}\n\n{question}\n\nFind a plan. Finish with the plan alone between a line [PLAN] and a line [PLAN END], one action a line, in the words of the list of actions above.',
    },
    official: { version: 1, source: 'plan-bench, task 1, one example', text: '{query}' },
  },
  expand: instancesOf,
  read(row) {
    const query = requiredText(row, 'query');
    const number = requiredText(row, 'instance_id');
    const problem = readStatement(query);
    if ('unread' in problem)
      throw rowError(row.place, `field "query" has a statement that is not understood: "${problem.unread}"`);
    const blocks = Object.keys(problem.objects).length;
    const set = problem.domain === 'blocksworld' && blocks === 3 ? 'blocksworld-3' : problem.domain;
    return {
      id: `${set}-${number}`,
      question: statementOf(query),
      gold: planOf(requiredText(row, 'ground_truth_plan')),
      subject: `${blocks} objects`,
      data: { kind: 'plan', ...problem },
      values: { query, rules: query.slice(0, query.indexOf('[STATEMENT]')).trim() },
    };
  },
});

/** The instances of a prompt file, which is one JSON object; other rows are instances themselves. */
function* instancesOf(row: Row): Generator<Row> {
  const instances = fieldOf(row, 'instances');
  if (!Array.isArray(instances)) return yield row;
  for (const [i, fields] of instances.entries()) {
    const place = `${row.place} instance ${i + 1}`;
    if (!isRecord(fields)) throw rowError(place, 'not an object');
    yield { place, fields };
  }
}

/** The last statement without the heading and the words that begin the plan. */
const statementOf = (query: string): string =>
  query
    .slice(query.lastIndexOf('[STATEMENT]') + '[STATEMENT]'.length)
    .replace(/\n+My plan is as follows:\s*(?:\[PLAN\])?\s*$/, '')
    .trim();

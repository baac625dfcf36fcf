import type { Random } from '../numeric/random.js';
import { actionAt, ascend, createTable, probabilities, type SoftmaxTable } from '../numeric/softmax.js';
import { type Analysis, LEVELS, metaReward, type Proof, scoreReward } from './proofs.js';

const scores = [0, 0.5, 1] as const;

/** A verifier: a flag or none by level of evidence, and a score by how many steps look bad. */
export interface Verifier {
  readonly flags: SoftmaxTable;
  readonly score: SoftmaxTable;
}

/** A verifier that knows nothing. */
export const createVerifier = (): Verifier => ({ flags: createTable(LEVELS, 2), score: createTable(16, 3) });

/** Row of the score: steps of level 3 and of level 2, each at most 3. */
function scoreRow({ evidence }: Proof): number {
  const at = (level: number) => Math.min(3, evidence.filter((own) => own === level).length);
  return at(3) * 4 + at(2);
}

/** An analysis with the choice behind its score. */
export interface Drawn extends Analysis {
  readonly score_action: number;
}

/** One analysis of a proof. */
export function analyse(verifier: Verifier, proof: Proof, random: Random): Drawn {
  const flag = new Float64Array(2);
  const flags = proof.evidence.map((level) => {
    probabilities(verifier.flags, level, flag);
    return random.next() < (flag[1] ?? 0);
  });
  const p = new Float64Array(3);
  probabilities(verifier.score, scoreRow(proof), p);
  const score_action = actionAt(p, random.next());
  return { flags, score: scores[score_action] ?? 0, score_action };
}

/** What an analysis earns. */
export const analysisReward = (analysis: Analysis, proof: Proof, meta: 'on' | 'off'): number =>
  scoreReward(analysis.score, proof.score) * (meta === 'on' ? metaReward(analysis, proof) : 1);

/** Adds weight times the gradient of the log-probability of an analysis. */
export function addAnalysis(
  gradient: Verifier,
  verifier: Verifier,
  { proof, analysis, weight }: { readonly proof: Proof; readonly analysis: Drawn; readonly weight: number },
): void {
  if (weight === 0) return;
  const flag = new Float64Array(2);
  proof.evidence.forEach((level, i) => {
    probabilities(verifier.flags, level, flag);
    // Half of a two-way softmax's step in each logit is a logistic's whole step.
    ascend(gradient.flags, { row: level, action: analysis.flags[i] === true ? 1 : 0, p: flag }, weight / 2);
  });
  const p = new Float64Array(3);
  const row = scoreRow(proof);
  probabilities(verifier.score, row, p);
  ascend(gradient.score, { row, action: analysis.score_action, p }, weight);
}

import { createHash } from 'node:crypto';
import {
  type CallInput,
  type Client,
  type Clock,
  type EndpointFacts,
  PerwattError,
  seedFrom,
} from '@perwatt/core';
import { parseCheckpoint, restoreTrainer } from './checkpoint.js';
import { type PolicyReading, readPolicy } from './policy-reading.js';
import type { PolicyService, Trainer } from './recipe.js';
import { recipeById } from './recipes.js';

/** How a trained policy is named as an endpoint: `recipe:<id>@<checkpoint>`. */
const pattern = /^recipe:([a-z_]+)@(.+)$/;

/** The parts of a policy's endpoint; null for an address of another kind. */
export function policyAddress(text: string): { readonly recipe: string; readonly checkpoint: string } | null {
  const [, recipe, checkpoint] = pattern.exec(text) ?? [];
  return recipe === undefined || checkpoint === undefined ? null : { recipe, checkpoint };
}

/** A policy to ask. */
export interface PolicyEndpoint {
  /** As `recipe:<id>@<checkpoint>`. */
  readonly address: string;
  /** Text of the checkpoint's file. */
  readonly text: string;
  readonly clock: Clock;
}

/** Identity of a policy: the digest of its checkpoint. */
export const policySha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

interface Policy {
  readonly trainer: Trainer;
  readonly serve: PolicyService;
  readonly version: number;
}

/** The policy of a checkpoint. Throws as `restoreTrainer`, and `INPUT_INVALID` for a recipe whose policy answers nothing. */
function policyOf({ address, text }: PolicyEndpoint): Policy {
  const parts = policyAddress(address);
  if (parts === null) throw new PerwattError('INPUT_INVALID', `"${address}" is no recipe:<id>@<checkpoint>`);
  const recipe = recipeById(parts.recipe);
  const trainer = restoreTrainer(recipe, parseCheckpoint(text, parts.checkpoint));
  const { serve, version } = recipe;
  if (serve === undefined)
    throw new PerwattError('INPUT_INVALID', `the policy of recipe ${recipe.id} answers no prompts`, {
      hint: 'Its model is a router: name its file in the strategy `route_learned`.',
    });
  return { trainer, serve, version };
}

const promptOf = (input: CallInput): string =>
  input.kind === 'completion'
    ? input.prompt
    : (input.messages.findLast(({ role }) => role === 'user')?.content ?? '');

/**
 * A client whose answers are a trained policy's. The policy draws as it was trained, by the seed of the call; a call without one
 * takes the next of its own. What is no item of the recipe is a failed call. A policy that writes token by token is read as it
 * writes, up to the tokens that may be spent; of another one an answer that takes more of them is not given. A call that is
 * aborted, or whose client is closed, ends with what was told.
 */
export function policyClient(endpoint: PolicyEndpoint): Client {
  let policy: Policy | null = null;
  let calls = 0;
  let closed = false;
  const facts = (version: number): EndpointFacts => ({
    kind: 'embedded',
    endpoint: endpoint.address,
    engine: 'perwatt-recipe',
    engine_version: String(version),
    model: endpoint.address,
    model_sha256: policySha256(endpoint.text),
    quantisation: null,
    chat_template_sha256: null,
    context_tokens: null,
    threads: 1,
    pids: [],
  });
  return {
    async open() {
      policy ??= policyOf(endpoint);
      return facts(policy.version);
    },
    async call(request, options = {}) {
      policy ??= policyOf(endpoint);
      calls += 1;
      const { trainer, serve } = policy;
      const { now } = endpoint.clock;
      const prompt = promptOf(request.input);
      const seed = seedFrom(request.sampling.seed ?? calls, prompt);
      return readPolicy(() => writingOf(serve, { trainer, prompt, seed }), {
        request,
        options,
        now,
        isClosed: () => closed,
      });
    },
    async close() {
      closed = true;
    },
  };
}

/** What a policy says to a prompt, in pieces; null where the prompt is no item of its recipe. */
function writingOf(
  serve: PolicyService,
  { trainer, prompt, seed }: { readonly trainer: Trainer; readonly prompt: string; readonly seed: number },
): PolicyReading | null {
  const writing = serve.write?.(trainer, prompt, seed) ?? null;
  if (writing !== null) return { ...writing, whole_tokens: null };
  const answer = serve.answer(trainer, prompt, seed);
  if (answer === null) return null;
  const { text, prompt_tokens, completion_tokens } = answer;
  return { prompt_tokens, pieces: [{ text, ends: true }], whole_tokens: completion_tokens };
}

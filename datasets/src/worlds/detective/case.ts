/** A case: who was where when something was taken. The thief alone was in the room it was taken from, and says otherwise. */
export interface Case {
  readonly thing: string;
  /** The room it was taken from. */
  readonly scene: string;
  readonly rooms: readonly string[];
  readonly suspects: readonly Suspect[];
  readonly thief: string;
  /** What the thief left behind: one of the marks that suspects may have. */
  readonly trace: string;
}

export interface Suspect {
  readonly name: string;
  /** Where they say they were; true but for the thief. */
  readonly claim: string;
  /** Whom they say they saw there; true but for the thief. */
  readonly saw: readonly string[];
  /** What is to be seen of them. */
  readonly marks: readonly string[];
}

/** What an actor may have found out so far: answers by suspect, and the trace. */
export interface Findings {
  readonly claims: ReadonlySet<string>;
  readonly sightings: ReadonlySet<string>;
  readonly marks: ReadonlySet<string>;
  readonly trace: boolean;
}

export const nothing: Findings = { claims: new Set(), sightings: new Set(), marks: new Set(), trace: false };

export const everything = ({ suspects }: Pick<Case, 'suspects'>): Findings => {
  const all = new Set(suspects.map(({ name }) => name));
  return { claims: all, sightings: all, marks: all, trace: true };
};

/** The suspects that could be the thief by what was found out: everyone else must then have told the truth. */
export const possibleThieves = (found: Findings, facts: Case): string[] =>
  facts.suspects.map(({ name }) => name).filter((name) => couldBe(name, found, facts));

function couldBe(thief: string, found: Findings, { suspects, scene, trace }: Case): boolean {
  const own = suspects.find(({ name }) => name === thief);
  if (found.trace && found.marks.has(thief) && own?.marks.includes(trace) !== true) return false;
  const others = suspects.filter(({ name }) => name !== thief);
  const told = others.filter(({ name }) => found.claims.has(name));
  if (told.some(({ claim }) => claim === scene)) return false;
  const claimOf = new Map(told.map(({ name, claim }): [string, string] => [name, claim]));
  return others
    .filter(({ name }) => found.sightings.has(name))
    .every((witness) => isConsistent(witness, { thief, claimOf }));
}

/** A truthful witness saw all those, and only those, who truly say they were in the same room, and never the thief. */
function isConsistent(
  { name, saw }: Suspect,
  { thief, claimOf }: { readonly thief: string; readonly claimOf: ReadonlyMap<string, string> },
): boolean {
  if (saw.includes(thief)) return false;
  const own = claimOf.get(name);
  if (own === undefined) return true;
  return [...claimOf].every(([other, claim]) => other === name || saw.includes(other) === (claim === own));
}

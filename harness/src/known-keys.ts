import { matrixJsonSchema } from '@perwatt/core';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly propertyNames?: { readonly enum?: readonly string[] };
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly allOf?: readonly Node[];
}

/** A schema and all that it may be instead. */
const alternatives = (node: Node): Node[] => [
  node,
  ...[node.anyOf, node.oneOf, node.allOf].flatMap((nodes) => (nodes ?? []).flatMap(alternatives)),
];

function within(node: Node, step: PropertyKey): Node[] {
  if (typeof step === 'number') return node.items === undefined ? [] : [node.items];
  const named = node.properties?.[String(step)];
  if (named !== undefined) return [named];
  return typeof node.additionalProperties === 'object' ? [node.additionalProperties] : [];
}

/** The keys that a matrix file may have at a place; of a place with several forms those of all. */
export function knownKeys(path: readonly PropertyKey[]): string[] {
  let nodes = alternatives(matrixJsonSchema());
  for (const step of path) nodes = nodes.flatMap((node) => within(node, step)).flatMap(alternatives);
  return [
    ...new Set(
      nodes.flatMap(({ properties = {}, propertyNames }) => [
        ...Object.keys(properties),
        ...(propertyNames?.enum ?? []),
      ]),
    ),
  ];
}

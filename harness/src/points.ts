import {
  type AcceleratorEntry,
  axisNames,
  type Condition,
  type Constraint,
  type DatasetEntry,
  type LoadEntry,
  type MatrixFile,
  type ModelEntry,
  type PointAxis,
  pointAxes,
  type StrategyEntry,
  type VariantEntry,
} from '@perwatt/core';
import type { CellPoint, PrunedCell } from '@perwatt/records';
import { axisId } from './axis-id.js';
import { conditionText, holds, type Subject } from './conditions.js';

/** One point of the product of the axes, with the entries that its values stand for. */
export interface Point {
  readonly point: CellPoint;
  readonly model: ModelEntry;
  readonly accelerator: AcceleratorEntry;
  readonly dataset: DatasetEntry;
  readonly strategy: StrategyEntry;
  readonly load: LoadEntry;
  /** Null where the matrix has no variants. */
  readonly variant: VariantEntry | null;
}

/** `axis=value` of the command line: only cells that match every filter are kept; values of one axis are alternatives. */
export type Filter = Readonly<Partial<Record<PointAxis, readonly string[]>>>;

/** The points that are left, and those that are not with the reason. */
export interface Points {
  readonly kept: readonly Point[];
  readonly pruned: readonly PrunedCell[];
}

/** The product of the axes less what values, constraints, `include` and `exclude` leave out, as written. */
export function pointsOf(matrix: MatrixFile): Points {
  const kept: Point[] = [];
  const pruned: PrunedCell[] = [];
  for (const point of product(matrix)) {
    const reason = reasonToPrune(point, matrix);
    if (reason === null) kept.push(point);
    else pruned.push({ point: point.point, reason });
  }
  return { kept, pruned };
}

function product({ axes }: MatrixFile): Point[] {
  const variants: readonly (VariantEntry | null)[] = axes.variant ?? [null];
  return axes.model.flatMap((model) =>
    axes.accelerator.flatMap((accelerator) =>
      axes.dataset.flatMap((dataset) =>
        axes.strategy.flatMap((strategy) =>
          axes.load.flatMap((load) =>
            variants.map((variant) => toPoint({ model, accelerator, dataset, strategy, load, variant })),
          ),
        ),
      ),
    ),
  );
}

function toPoint(entries: Omit<Point, 'point'>): Point {
  const base = Object.fromEntries(axisNames.map((axis) => [axis, axisId(entries[axis])]));
  const variant = entries.variant === null ? {} : { variant: entries.variant.id };
  return { point: { ...base, ...variant } as CellPoint, ...entries };
}

/** Why a point is left out, or null when it stays. */
function reasonToPrune(p: Point, matrix: MatrixFile): string | null {
  const subject: Subject = { point: p.point, entries: { ...p } };
  return absentValue(p, subject) ?? brokenConstraint(subject, matrix) ?? notChosen(p.point, matrix);
}

/** A value of an axis that doesn't exist beside the other values. */
function absentValue(p: Point, subject: Subject): string | null {
  for (const axis of pointAxes) {
    const when: Condition | undefined = p[axis]?.when;
    if (when !== undefined && !holds(when, subject))
      return `${axis} ${p.point[axis]} exists only when ${conditionText(when)}`;
  }
  return null;
}

function brokenConstraint(subject: Subject, { constraints = [] }: MatrixFile): string | null {
  const broken = ({ when = {}, require, forbid }: Constraint) =>
    holds(when, subject) &&
    ((require !== undefined && !holds(require, subject)) || (forbid !== undefined && holds(forbid, subject)));
  const index = constraints.findIndex(broken);
  const constraint = constraints[index];
  if (constraint === undefined) return null;
  const { require, forbid = {}, reason } = constraint;
  const rule =
    require === undefined ? `forbids ${conditionText(forbid)}` : `requires ${conditionText(require)}`;
  return `constraints[${index}]: ${reason ?? rule}`;
}

function notChosen(point: CellPoint, { include, exclude = [] }: MatrixFile): string | null {
  if (include !== undefined && !include.some((rule) => matches(point, texts(rule))))
    return 'no entry of include';
  const out = exclude.findIndex((rule) => matches(point, texts(rule)));
  return out === -1 ? null : `exclude[${out}]`;
}

type Rule = NonNullable<MatrixFile['include']>[number];

const texts = (rule: Rule): Filter =>
  Object.fromEntries(Object.entries(rule).map(([axis, value]) => [axis, [value].flat().map(String)]));

/** Whether a point has, on every axis of a filter, one of its values. */
export const matches = (point: CellPoint, filter: Filter): boolean =>
  pointAxes.every((axis) => filter[axis]?.includes(point[axis] ?? '') ?? true);

import type { CompiledProject } from '../../configerator/domain/gatekeeper/evaluate';
import {
  cheapestOrder,
  learn,
  createTriedRestraint,
  type TriedRestraint,
} from '../../configerator/domain/gatekeeper/order';
import type { GateUser } from '../../configerator/domain/gatekeeper/project';

/** One check in this many measures all restraints of its project. */
const MEASURED = 256;
/** One measurement in this many reorders them. */
const ORDERED = 8;

/** Measures the cost and the decisions of a project's restraints, and orders the cheapest first. */
export class MeasuredOrder {
  private compiled: CompiledProject | undefined;
  private tried: readonly (readonly TriedRestraint[])[] = [];
  private checks = 0;

  /** @param meter in any unit */
  constructor(private readonly meter: () => number) {}

  /** For a new value of the project, which has no statistics yet. */
  begin(compiled: CompiledProject | undefined): void {
    this.compiled = compiled;
    this.tried = (compiled?.rules ?? []).map(({ rule }) => rule.if.map(createTriedRestraint));
    this.order();
  }

  checked(user: GateUser): void {
    this.checks += 1;
    if (this.checks % MEASURED === 0) this.measure(user);
  }

  /** Measures all restraints, even those that would not be tried: a restraint that is tried only after others says nothing about all users. */
  private measure(user: GateUser): void {
    for (const [at, { tests }] of (this.compiled?.rules ?? []).entries())
      for (const [index, test] of tests.entries()) {
        const began = this.meter();
        const held = test(user);
        const tried = this.tried[at]?.[index];
        if (tried) learn(tried, held === true, this.meter() - began);
      }
    if (this.checks % (MEASURED * ORDERED) === 0) this.order();
  }

  private order(): void {
    for (const [at, rule] of (this.compiled?.rules ?? []).entries()) rule.order = cheapestOrder(this.tried[at] ?? []);
  }
}

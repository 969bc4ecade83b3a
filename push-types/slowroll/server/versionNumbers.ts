import { SLOWROLL_LIMITS } from '../../../sdk';
import type { SlowrollState } from './decisions';

/**
 * Numbers for versions, from 1 on. Those of decided versions are in the memory, and may stand in tags that outlive this process; those of other versions, which hosts
 * report, end with it.
 */
export class VersionNumbers {
  private readonly numbers = new Map<string, number>();
  private readonly passing: string[] = [];

  constructor(private readonly state: SlowrollState) {
    this.list.forEach((version, index) => this.numbers.set(version, index + 1));
  }

  /** The number of a decided version; the caller saves the memory. */
  keep(version: string): number {
    const known = this.numbers.get(version);
    if (known !== undefined && known < FIRST_PASSING) return known;
    const number = this.list.push(version);
    if (number >= FIRST_PASSING)
      throw new Error(`more than ${FIRST_PASSING} versions were decided: begin a new memory`);
    this.numbers.set(version, number);
    return number;
  }

  /** The number of any version; those beyond a limit share one. */
  note(version: string): number {
    const known = this.numbers.get(version);
    if (known !== undefined) return known;
    if (this.passing.length >= SLOWROLL_LIMITS.strangeVersions.max) return OTHER;
    const number = FIRST_PASSING + this.passing.push(version) - 1;
    this.numbers.set(version, number);
    return number;
  }

  /** The number of a version, or 0. */
  find(version: string): number {
    return this.numbers.get(version) ?? 0;
  }

  name(number: number): string {
    if (number === 0) return '';
    if (number === OTHER) return 'other';
    return (number < FIRST_PASSING ? this.list[number - 1] : this.passing[number - FIRST_PASSING]) ?? 'other';
  }

  /** Whether a number means the same after a restart. */
  isKept(number: number): boolean {
    return number > 0 && number <= this.list.length && number < FIRST_PASSING;
  }

  private get list(): string[] {
    return (this.state.versions ??= []);
  }
}

const FIRST_PASSING = 32_768;
const OTHER = 65_535;

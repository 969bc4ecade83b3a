import { SLOWROLL_LIMITS } from '../../../sdk';
import type { SlowrollFleet } from './slowrollFleet';

/** Counts the requests of each host in a second. */
export class HostPace {
  private second = 0;
  private readonly asked = new Map<string, number>();

  constructor(private readonly fleet: SlowrollFleet) {}

  /** Counts a request. @returns whether the host asks again and again */
  isHasty(host: string): boolean {
    const second = Math.floor(this.fleet.options.now() / 1000);
    if (second !== this.second) this.asked.clear();
    this.second = second;
    const times = (this.asked.get(host) ?? 0) + 1;
    this.asked.set(host, times);
    return times > SLOWROLL_LIMITS.pollsASecond.max;
  }
}

import { z } from 'zod';

/** How many activities of each kind one worker runs at the same time: `slots` of conveyor.config.yaml. */
export interface Slots {
  /** Calls that change something, and all others. */
  readonly effects: number;
  /** Calls of reverts, rollbacks and emergencies. */
  readonly urgent: number;
  /** Looks at health, updates and runs: the most requests of one worker to extensions at once. */
  readonly looks: number;
  /** Scripts, each a process for as long as it runs. */
  readonly scripts: number;
}

const DEFAULT_SLOTS: Slots = { effects: 100, urgent: 100, looks: 100, scripts: 20 };

const slots = z.int().min(1).max(10_000);

/** The key of conveyor.config.yaml that this file handles. */
export const slotFields = {
  slots: z.strictObject({ effects: slots, urgent: slots, looks: slots, scripts: slots }).partial().default({}),
};

type SlotsConfig = { readonly [F in keyof typeof slotFields]: z.output<(typeof slotFields)[F]> };

export const toSlots = ({ slots: given }: SlotsConfig): Slots => ({ ...DEFAULT_SLOTS, ...given });

import type { Client } from '@temporalio/client';
import type { Blackout } from '../domain/calendar/blackout';
import { roomAt, type LimitedWindow, type Room } from '../domain/calendar/room';
import type { PipelineState } from '../domain/pipeline/state';
import type { Clock } from './clock';
import { pipelineKnows } from './waitFor';

/** A deploy that would begin now. */
export interface RoomAsk {
  readonly pipeline: string;
  readonly release: number;
  readonly action: string;
  readonly windows: readonly LimitedWindow[];
  readonly blackouts: readonly Blackout[];
}

export type WindowRoomActivities = ReturnType<typeof createWindowRoomActivities>;

export function createWindowRoomActivities({ client, clock }: { client: Client; clock: Clock }) {
  return {
    /** Whether one more deploy may begin in an open window; its pipeline knows which others have begun. */
    windowRoom: async ({ pipeline, release, action, windows, blackouts }: RoomAsk): Promise<Room> => {
      const known = await pipelineKnows<PipelineState>(client, pipeline);
      const others = (known?.begunAt?.[action] ?? []).filter(([number]) => number !== release);
      return roomAt(
        { windows, blackouts },
        others.map(([, atMs]) => atMs),
        await clock.now(),
      );
    },
  };
}

import { z } from 'zod';
import { conversation } from '../../sdk/controllers/conversation';
import { leaderLast } from '../../sdk/controllers/leaderLast';
import { standardController } from './controller';

const leaderLastOptions = z.strictObject({ onMaintenance: z.enum(['move', 'stop', 'ride-out']).default('stop') });

/** For an ensemble of all tasks of the job. */
export const leaderLastController = standardController(leaderLastOptions, ({ onMaintenance }, view) => {
  const ask = conversation(onMaintenance);
  return (request) => ask(request, leaderLast({ members: view.slots().length, leader: view.leader() }));
});

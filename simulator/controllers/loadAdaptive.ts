import { z } from 'zod';
import { conversation } from '../../sdk/controllers/conversation';
import { loadAdaptive } from '../../sdk/controllers/loadAdaptive';
import { standardController } from './controller';

const loadAdaptiveOptions = z.strictObject({
  /** The CPU that the remaining tasks may reach, 0 to 1. */
  limit: z.number().gt(0).max(1).default(0.7),
  onMaintenance: z.enum(['move', 'stop', 'ride-out']).default('move'),
});

/** For a stateless service, in which any task can replace any other. */
export const loadAdaptiveController = standardController(loadAdaptiveOptions, ({ limit, onMaintenance }, view) => {
  const ask = conversation(onMaintenance);
  return (request) => {
    const load = view.cpu() * view.running();
    return ask(request, loadAdaptive({ tasks: view.slots().length, load, limit }));
  };
});

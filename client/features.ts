import { bugsClient } from '../features/bugs/client/bugs';
import { freshnessClient } from '../features/freshness/client/freshness';
import type { FeatureClient } from './featureApi';
import type { ClientOptions } from './options';
import type { Workflows } from './workflows';

export const featureClient = (workflows: Workflows, options: ClientOptions): FeatureClient => ({
  ...bugsClient(workflows, options),
  ...freshnessClient(workflows, options),
});

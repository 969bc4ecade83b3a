import type { StandardController } from './controller';
import { leaderLastController } from './leaderLast';
import { loadAdaptiveController } from './loadAdaptive';
import { shardAwareController } from './shardAware';

/** The controllers that come with the world, by kind. */
export const STANDARD_CONTROLLERS: Readonly<Record<string, StandardController>> = {
  'shard-aware': shardAwareController,
  'leader-last': leaderLastController,
  'load-adaptive': loadAdaptiveController,
};

import type { StandardController } from './controller';

/** The controllers that come with the world, by kind. */
export const STANDARD_CONTROLLERS: Readonly<Record<string, StandardController>> = {};

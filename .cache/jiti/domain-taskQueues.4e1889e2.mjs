"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.sideQueue = exports.SIDE_QUEUES = exports.DEPLOYMENT = void 0; /**
 * Task queues with separate slots on a worker, so that none waits for another: long or numerous activities never keep a
 * revert from beginning. Workflow tasks and all other activities are on the main task queue.
 */
const SIDE_QUEUES = exports.SIDE_QUEUES = ['urgent', 'looks', 'scripts'];


/** The name of a task queue next to the main one. */
const sideQueue = (main, side) => `${main}-${side}`;

/** The name of Temporal's worker deployment for all versioned workers of Conveyor. */exports.sideQueue = sideQueue;
const DEPLOYMENT = exports.DEPLOYMENT = 'conveyor'; /* v9-650eb002e341b579 */

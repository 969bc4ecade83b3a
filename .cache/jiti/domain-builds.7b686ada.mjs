"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.workerCommand = exports.noWorkerWords = exports.followsBuilds = exports.currentBuildCommand = exports.FOLLOWING_TYPES = void 0;var _taskQueues = await jitiImport("./taskQueues");

/** A build of workers; null stands for workers without one. */


/** Workflow types that outlive an upgrade of workers: each step runs on the build that is current then. */
const FOLLOWING_TYPES = exports.FOLLOWING_TYPES = [
'artifactSweep',
'bugs',
'landing',
'lock',
'offers',
'pipeline',
'signOut',
'snapshot'];

/** Workflow types that stay on the build that began them. */




const followsBuilds = (type) => FOLLOWING_TYPES.some((following) => following === type);

/** The missing worker, as lists and messages name it; without a build if workers have none. */exports.followsBuilds = followsBuilds;
const noWorkerWords = (build) =>
build === undefined ? 'no worker' : build === null ? 'no worker without a build' : `no worker of build ${build}`;

/** The command that starts that worker. */exports.noWorkerWords = noWorkerWords;
const workerCommand = (build) =>
build === undefined ?
'conveyor worker' :
build === null ?
'conveyor worker, without --build' :
`conveyor worker --build ${build}`;

/** The command that gives new work to workers of that build. */exports.workerCommand = workerCommand;
const currentBuildCommand = (build) =>
`temporal worker deployment set-current-version --deployment-name ${_taskQueues.DEPLOYMENT} ${build === null ? '--unversioned' : `--build-id ${build}`} --yes`;

/** Workflows whose next step belongs to a build that they should not wait for. */









/** Workers with builds at one task queue, as Temporal knows them. */exports.currentBuildCommand = currentBuildCommand; /* v9-3c3ab87e7941b52a */

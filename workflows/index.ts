export { artifactSweep } from './artifactSweep';
export { deploy } from './deploy';
export { fanOut } from './fanOut';
export { fanOutShard } from './fanOut/shard';
export { lock } from './lock';
export { pipeline } from './pipeline';
export { release } from './release';
export { snapshot } from './snapshot';

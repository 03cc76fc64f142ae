"""The error that the client is shown for a failure."""

from __future__ import annotations

from toolwire.model.errors import GatewayError, InternalError
from toolwire.model.settings import SettingsError
from toolwire.shell.network.output import stack_of
from toolwire.shell.telemetry.log import logger


def shown(failure: Exception, request_id: str) -> GatewayError:
    """The failure itself if it is a GatewayError, else a general error, and a line of the log.

    The failure's own text may quote a request or a secret, so the log gets its type and place. A SettingsError's text
    is for the operator, so only the log gets it.
    """
    if isinstance(failure, GatewayError):
        return failure
    if isinstance(failure, SettingsError):
        logger().error("the configuration is wrong", request_id=request_id, problem=str(failure))
        return InternalError("The gateway's configuration is wrong; its log says where.", code="configuration_error")
    logger().error("bug", request_id=request_id, error_type=type(failure).__name__, stack=stack_of(failure))
    return InternalError("The gateway failed; its log says where.")
